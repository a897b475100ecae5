package baton.interop

import baton.sync.MutexContract
import baton.sync.SemaphoreContract

// Left out: timeouts in virtual time, which a java.time.Duration on the process's clock does not follow, and the topic
// of dispatchers, which is between the coroutine and kotlinx's `await`.

class JavaSemaphoreTest : SemaphoreContract(::JavaSemaphoreFace)

class JavaMutexTest : MutexContract(::JavaMutexFace)

class MixedJavaKotlinSemaphoreTest : SemaphoreContract(::JavaKotlinSemaphoreFace)

class MixedJavaKotlinMutexTest : MutexContract(::JavaKotlinMutexFace)
