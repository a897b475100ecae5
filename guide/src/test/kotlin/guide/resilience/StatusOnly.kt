package guide.resilience

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpHeaders
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.util.Optional
import javax.net.ssl.SSLSession

/** A response that has nothing but a status. */
class StatusOnly(private val status: Int) : HttpResponse<String> {
    override fun statusCode(): Int = status

    override fun request(): HttpRequest = HttpRequest.newBuilder(uri()).build()

    override fun previousResponse(): Optional<HttpResponse<String>> = Optional.empty()

    override fun headers(): HttpHeaders = HttpHeaders.of(emptyMap()) { _, _ -> true }

    override fun body(): String = "status $status"

    override fun sslSession(): Optional<SSLSession> = Optional.empty()

    override fun uri(): URI = URI("http://localhost/")

    override fun version(): HttpClient.Version = HttpClient.Version.HTTP_1_1
}
