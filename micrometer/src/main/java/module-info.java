/** Meters of Micrometer for what a monitor watches. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // Micrometer has no descriptors
module baton.micrometer {
    requires kotlin.stdlib;
    requires transitive baton.primitives;
    requires transitive micrometer.core;

    exports baton.micrometer;
}
