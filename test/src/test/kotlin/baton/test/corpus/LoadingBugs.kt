package baton.test.corpus

import baton.sync.Mutex
import baton.sync.withLock
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Job
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.sync.Mutex as KotlinxMutex
import kotlinx.coroutines.sync.withLock as withKotlinxLock

internal val loadingBugs =
    listOf(
        // jaredwray/cacheable #888: each request that misses the cache loads.
        Bug("cache stampede", failure = "2 loads") { isRight ->
            val mutex = KotlinxMutex()
            val cache = HashMap<String, String>()
            var loads = 0

            suspend fun load(key: String): String {
                loads++
                call()
                return "page $key"
            }

            suspend fun getOrLoad(key: String) = cache[key] ?: load(key).also { cache[key] = it }

            suspend fun get(key: String) = if (isRight) mutex.withKotlinxLock { getOrLoad(key) } else getOrLoad(key)
            for (who in listOf("a", "b")) launch(CoroutineName(who)) { get("home") }
            afterwards { check(loads == 1) { "$loads loads" } }
        },
        // MarcinMoskala/kotlin-coroutines-recipes #3: what is read without the lock is not complete yet.
        Bug("double-checked initialisation publishes too early", failure = "queried before it was open") { isRight ->
            class Connection {
                var isOpen = false

                suspend fun open() {
                    call()
                    isOpen = true
                }

                fun query() = check(isOpen) { "queried before it was open" }
            }
            val mutex = Mutex()
            var connection: Connection? = null

            suspend fun connect(): Connection =
                connection
                    ?: mutex.withLock {
                        connection
                            ?: Connection().also {
                                if (!isRight) connection = it
                                it.open()
                                connection = it
                            }
                    }
            launch(CoroutineName("a")) { connect().query() }
            launch(CoroutineName("b")) {
                call(3)
                connect().query()
            }
        },
        // icerockdev/moko-network #24: each refused request uses up the refresh token, which is valid once.
        Bug("a token is refreshed twice", failure = "2 refreshes") { isRight ->
            val mutex = Mutex()
            var token = "expired"
            var refreshes = 0

            suspend fun request() {
                val used = token
                call()
                if (used != "expired") return
                mutex.withLock {
                    if (isRight && token != used) return@withLock
                    call()
                    token = "new ${++refreshes}"
                }
            }
            for (who in listOf("a", "b")) launch(CoroutineName(who)) { request() }
            afterwards { check(refreshes == 1) { "$refreshes refreshes" } }
        },
        // braidchat/meta #427: an earlier, slower search shows its result last.
        Bug("an old result replaces a new one", failure = "shows bat") { isRight ->
            var search: Job? = null
            var shown = ""

            fun type(text: String) {
                if (isRight) search?.cancel()
                search =
                    launch(CoroutineName("search $text")) {
                        call()
                        shown = text
                    }
            }
            launch(CoroutineName("user")) {
                type("bat")
                call()
                type("baton")
            }
            afterwards { check(shown == "baton") { "shows $shown" } }
        },
        Bug("a child outlives its session", failure = "a beat after the end") { isRight ->
            val explored = this
            var isOpen = true

            suspend fun beat() =
                repeat(2) {
                    call()
                    check(isOpen) { "a beat after the end" }
                }
            launch(CoroutineName("session")) {
                if (isRight) {
                    coroutineScope {
                        val heart = launch(CoroutineName("heart")) { beat() }
                        call(4)
                        heart.cancel()
                    }
                } else {
                    explored.launch(CoroutineName("heart")) { beat() }
                    call(4)
                }
                isOpen = false
            }
        },
    )
