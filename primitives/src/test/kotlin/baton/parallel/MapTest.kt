package baton.parallel

import baton.parallel.contract.FlowFace
import baton.parallel.contract.IterableFace
import baton.parallel.contract.MapCancellation
import baton.parallel.contract.MapFace
import baton.parallel.contract.MapFailures
import baton.parallel.contract.MapLimits
import baton.parallel.contract.MapOptions
import baton.parallel.contract.MapOutcomes
import baton.parallel.contract.SequenceFace

/** The contract of the maps, for both languages and every kind of source. */
abstract class MapContract(override val face: MapFace) : MapLimits, MapFailures, MapCancellation, MapOutcomes

/** The contract, with the options that coroutines have alone. */
abstract class KotlinMapContract(face: MapFace) : MapContract(face), MapOptions

class IterableMapTest : KotlinMapContract(IterableFace)

class SequenceMapTest : KotlinMapContract(SequenceFace)

class FlowMapTest : KotlinMapContract(FlowFace)
