package baton.resilience.pipeline

import baton.resilience.ResiliencePipeline
import kotlinx.coroutines.runBlocking

/** A pipeline as the contract sees it, over any of the APIs. */
interface PipelineFace {
    /** Runs [block] in the pipeline, and throws its failure unwrapped. */
    fun <T> call(pipeline: ResiliencePipeline, fallback: ((Throwable) -> T)?, block: () -> T): T
}

object KotlinPipelineFace : PipelineFace {
    override fun <T> call(pipeline: ResiliencePipeline, fallback: ((Throwable) -> T)?, block: () -> T): T =
        runBlocking {
            if (fallback == null) pipeline.call { block() } else pipeline.call({ fallback(it) }) { block() }
        }
}

class KotlinPipelineTest : PipelineContract(KotlinPipelineFace)
