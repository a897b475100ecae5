@file:JvmName("KeyBridge")

package baton.bridge

import baton.InternalBatonApi
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitBreakers
import baton.resilience.RateLimiter
import baton.resilience.RateLimiters
import baton.sync.Mutex
import baton.sync.Mutexes
import baton.sync.Semaphore
import baton.sync.Semaphores
import baton.waiting.keys.KeyTable
import java.time.Duration
import kotlin.time.toKotlinDuration

// The internal API of objects by key for futures and threads, which lease the object of their key.

@InternalBatonApi @JvmName("of") public fun <K : Any> tableOf(all: Semaphores<K>): KeyTable<K, Semaphore> = all.table

@InternalBatonApi @JvmName("of") public fun <K : Any> tableOf(all: Mutexes<K>): KeyTable<K, Mutex> = all.table

@InternalBatonApi
@JvmName("of")
public fun <K : Any> tableOf(all: RateLimiters<K>): KeyTable<K, RateLimiter> = all.table

@InternalBatonApi
@JvmName("of")
public fun <K : Any> tableOf(all: CircuitBreakers<K>): KeyTable<K, CircuitBreaker> = all.table

/** Java cannot call a constructor that has a kotlin.time.Duration among its parameters. */
@InternalBatonApi
public fun <K : Any> circuitBreakers(
    config: CircuitBreakerConfig,
    keepIdle: Duration,
    maxKeys: Int,
    name: String?,
): CircuitBreakers<K> = CircuitBreakers(config, keepIdle.toKotlinDuration(), maxKeys, name)

@InternalBatonApi
public fun <K : Any> openFor(breakers: CircuitBreakers<K>, key: K, time: Duration): Unit =
    breakers.openFor(key, time.toKotlinDuration())

/** The most keys by default. */
@InternalBatonApi public const val DEFAULT_MAX_KEYS: Int = KeyTable.DEFAULT_MAX_KEYS
