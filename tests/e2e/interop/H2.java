import java.io.FileInputStream;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A client of HTTP/2 by Java's HttpClient, as node/h2.mjs is one: H2 ORIGIN CA COUNT. */
class H2 {
	static HttpClient client;
	static String origin;

	static CompletableFuture<HttpResponse<byte[]>> ask(String method, String path, byte[] body) {
		return client.sendAsync(HttpRequest.newBuilder(URI.create(origin + path)).method(method, BodyPublishers.ofByteArray(body)).build(),
					BodyHandlers.ofByteArray());
	}

	public static void main(String[] args) throws Exception {
		KeyStore store = KeyStore.getInstance("PKCS12");
		TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
		SSLContext context = SSLContext.getInstance("TLS");
		try (InputStream file = new FileInputStream(args[1])) {
			store.load(null, null);
			store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
		}
		trust.init(store);
		context.init(null, trust.getTrustManagers(), null);
		client = HttpClient.newBuilder().sslContext(context).version(HttpClient.Version.HTTP_2).build();
		origin = args[0];
		// Requests that begin together would each make a connection.
		var first = ask("GET", "/files/data", new byte[0]).get();
		List<CompletableFuture<String>> all = new ArrayList<>();
		for (int i = 0; i < Integer.parseInt(args[2]); i++) {
			String up = "/files/up" + i;
			all.add(ask("GET", "/files/data", new byte[0]).thenCompose(got -> ask("PUT", up, got.body()).thenApply(put -> digest(got.body()))));
		}
		List<String> digests = new ArrayList<>();
		for (var one : all)
			digests.add('"' + one.get() + '"');
		System.out.println("{\"protocol\": \"" + first.version() + "\", \"digests\": " + digests + "}");
	}

	static String digest(byte[] body) {
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(body));
		} catch (java.security.NoSuchAlgorithmException e) {
			throw new AssertionError(e);
		}
	}
}
