package baton.test.distributed

class SimulationDeepTest : SimulationContract(seeds = 200_000)
