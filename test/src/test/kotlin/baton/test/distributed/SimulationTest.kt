package baton.test.distributed

/** As many seeds as a build has time for. */
class SimulationTest : SimulationContract(seeds = 10_000)
