package dev.onehop.testbed;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The authority of the servers' certificates, the only one that connections trust. Immutable. */
public final class TrustedAuthority {
  /**
   * The type of the store that {@link #writeStore} writes. The content is not secret. It can be
   * read without the password.
   */
  public static final String STORE_TYPE = "JKS";

  private final Path file;
  private final KeyStore trusted;

  private TrustedAuthority(Path file, KeyStore trusted) {
    this.file = file;
    this.trusted = trusted;
  }

  /**
   * Reads an authority.
   *
   * @param file the PEM file with the trusted certificates
   * @throws TestbedException if the file can't be read or has no certificate
   */
  public static TrustedAuthority read(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      KeyStore trusted = KeyStore.getInstance(STORE_TYPE);
      trusted.load(null, null);
      int count = 0;
      for (Certificate certificate :
          CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        trusted.setCertificateEntry("authority" + count++, certificate);
      }
      if (count == 0) {
        throw new TestbedException(file + " has no certificate", null);
      }
      return new TrustedAuthority(file, trusted);
    } catch (IOException | GeneralSecurityException e) {
      throw unusable(file, e);
    }
  }

  /** Returns the TLS context for connections of this process. */
  public SSLContext context() {
    try {
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw unusable(file, e);
    }
  }

  /**
   * Writes a trust store of type {@link #STORE_TYPE}, for {@code -Djavax.net.ssl.trustStore} of
   * another process.
   *
   * @throws TestbedException if the store can't be written
   */
  public void writeStore(Path store) {
    try (OutputStream out = Files.newOutputStream(store)) {
      trusted.store(out, new char[] {'o', 'n', 'e', 'h', 'o', 'p'});
    } catch (IOException | GeneralSecurityException e) {
      throw new TestbedException("cannot write the trust store " + store + ": " + e, e);
    }
  }

  private static TestbedException unusable(Path file, Exception e) {
    return new TestbedException("cannot use the certificates of " + file + ": " + e, e);
  }
}
