package dev.onehop.it;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The certificates of an authority, a server and a client, made with the JDK's keytool in a
 * temporary folder.
 *
 * @param folder the folder of the files
 */
public record TestCertificates(Path folder) {
  /** The subject of the client's certificate, which is its user name. */
  static final String CLIENT = "CN=client,OU=users,O=onehop";

  private static final String PASSWORD = "changeit";

  public static TestCertificates create() {
    try {
      TestCertificates made = new TestCertificates(Files.createTempDirectory("onehop-tls"));
      made.keyPair("authority", "CN=authority,O=onehop", "-ext", "bc:c");
      made.keyPair("server", "CN=localhost,OU=servers,O=onehop");
      made.keyPair("client", CLIENT);
      made.sign("server", "-ext", "san=dns:localhost");
      made.sign("client");
      Files.writeString(made.authorityPem(), made.export("authority"));
      Files.writeString(made.serverPem(), made.privateKey("server") + made.export("server"));
      return made;
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  Path serverPem() {
    return folder.resolve("server.pem");
  }

  public Path authorityPem() {
    return folder.resolve("authority.pem");
  }

  /** A TLS context that trusts the authority and has no client certificate. */
  public SSLContext trusting() {
    return context(null);
  }

  /** A TLS context that trusts the authority and has the client's certificate. */
  SSLContext client() {
    return context("client");
  }

  private SSLContext context(@Nullable String key) {
    try {
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, null);
      trusted.setCertificateEntry("authority", store("authority").getCertificate("authority"));
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(key == null ? null : store(key), PASSWORD.toCharArray());
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private KeyStore store(String name) throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(folder.resolve(name + ".p12"))) {
      store.load(in, PASSWORD.toCharArray());
    }
    return store;
  }

  private void keyPair(String name, String subject, String... more) {
    keytool(
        name,
        append(
            List.of("-genkeypair", "-keyalg", "RSA", "-keysize", "2048", "-dname", subject), more));
  }

  private void sign(String name, String... extensions) {
    Path request = folder.resolve(name + ".csr");
    Path signed = folder.resolve(name + ".crt");
    keytool(name, List.of("-certreq", "-file", request.toString()));
    keytool(
        "authority",
        append(
            List.of(
                "-gencert", "-rfc", "-infile", request.toString(), "-outfile", signed.toString()),
            extensions));
    Path chain = folder.resolve(name + ".chain");
    try {
      Files.writeString(chain, Files.readString(signed) + export("authority"));
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
    // keytool imports a certificate chain only if it trusts the authority of the chain.
    keytool(name, List.of("-importcert", "-trustcacerts", "-file", chain.toString()));
  }

  private String export(String name) throws GeneralSecurityException, IOException {
    return pem("CERTIFICATE", store(name).getCertificate(name).getEncoded());
  }

  private String privateKey(String name) throws GeneralSecurityException, IOException {
    return pem("PRIVATE KEY", store(name).getKey(name, PASSWORD.toCharArray()).getEncoded());
  }

  private static String pem(String what, byte[] encoded) {
    return "-----BEGIN "
        + what
        + "-----\n"
        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded)
        + "\n-----END "
        + what
        + "-----\n";
  }

  private void keytool(String name, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(arguments);
    command.addAll(
        List.of(
            "-alias",
            name,
            "-keystore",
            folder.resolve(name + ".p12").toString(),
            "-storepass",
            PASSWORD,
            "-storetype",
            "PKCS12",
            "-noprompt"));
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IllegalStateException(command + ": " + output);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static List<String> append(List<String> first, String... more) {
    List<String> all = new ArrayList<>(first);
    all.addAll(List.of(more));
    return all;
  }
}
