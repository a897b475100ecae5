package baton.waiting

import baton.InternalBatonApi

/** A marker compared by identity, which prints as its [name]. */
@InternalBatonApi
public class Symbol(private val name: String) {
    override fun toString(): String = name
}
