import java.io.FileInputStream;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.KeyStore;
import java.security.Security;
import java.security.cert.CertificateFactory;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/** A TLS tunnel by Java's JSSE, as tunnel.go is one: Tunnel client|server TARGET VERSION SUITE CA|PKCS12 BYTES. BYTES is after how many it
 * sends a KeyUpdate, 0: none. */
class Tunnel {
	static SSLContext context;
	static SSLParameters parameters = new SSLParameters();
	static boolean isServer;
	static int target;

	public static void main(String[] args) throws Exception {
		isServer = args[0].equals("server");
		target = Integer.parseInt(args[1]);
		if (!args[5].equals("0"))
			Security.setProperty("jdk.tls.keyLimits", "AES/GCM/NoPadding KeyUpdate " + args[5] +
					     ", ChaCha20-Poly1305 KeyUpdate " + args[5]);
		parameters.setProtocols(new String[] { args[2] });
		parameters.setCipherSuites(new String[] { args[3] });
		parameters.setApplicationProtocols(new String[] { "http/1.1" });
		if (!isServer)
			parameters.setEndpointIdentificationAlgorithm("HTTPS");
		context = SSLContext.getInstance("TLS");
		KeyStore store = KeyStore.getInstance("PKCS12");
		KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
		TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
		try (InputStream file = new FileInputStream(args[4])) {
			store.load(isServer ? file : null, "secret".toCharArray());
			if (!isServer)
				store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
		}
		keys.init(store, "secret".toCharArray());
		trust.init(store);
		context.init(isServer ? keys.getKeyManagers() : null, isServer ? null : trust.getTrustManagers(), null);
		ServerSocket listener = new ServerSocket(0, 8, InetAddress.getByName("127.0.0.1"));
		System.out.println(listener.getLocalPort());
		while (true) {
			Socket near = listener.accept();
			new Thread(() -> handle(near)).start();
		}
	}

	static void handle(Socket near) {
		try (near; Socket far = new Socket("127.0.0.1", target)) {
			near.setTcpNoDelay(true);
			far.setTcpNoDelay(true);
			long before = System.currentTimeMillis();
			SSLSocket tls = (SSLSocket)context.getSocketFactory().createSocket(isServer ? near : far, "localhost", target, true);
			tls.setUseClientMode(!isServer);
			tls.setSSLParameters(parameters);
			tls.startHandshake();
			// There is no method for it: a session that is resumed is older than the connection.
			SSLSession session = tls.getSession();
			System.out.println(session.getProtocol() + " " + session.getCipherSuite() + " " + (session.getCreationTime() < before) + " " +
					   tls.getApplicationProtocol());
			Socket plain = isServer ? far : near;
			Thread other = new Thread(() -> pump(plain, tls));
			other.start();
			pump(tls, plain);
			other.join();
		} catch (Exception e) {
			System.out.println("failed " + e);
		}
	}

	static void pump(Socket from, Socket to) {
		try {
			from.getInputStream().transferTo(to.getOutputStream());
			to.shutdownOutput();
		} catch (Exception e) {
			System.err.println(e);
		}
	}
}
