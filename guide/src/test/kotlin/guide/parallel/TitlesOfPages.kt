package guide.parallel

import baton.parallel.mapLimit

suspend fun titles(urls: List<String>, fetch: suspend (String) -> String): List<String> =
    urls.mapLimit(5) { url -> fetch(url).substringBefore('\n') }
