package dev.onehop.wire.driver;

import com.mongodb.AuthenticationMechanism;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCompressor;
import com.mongodb.MongoCredential;
import com.mongodb.connection.ConnectionPoolSettings;
import com.mongodb.connection.ProxySettings;
import com.mongodb.connection.SocketSettings;
import com.mongodb.connection.SslSettings;
import com.mongodb.spi.dns.InetAddressResolver;
import com.mongodb.spi.dns.InetAddressResolverProvider;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.Addresses;
import dev.onehop.wire.connection.Compressor;
import dev.onehop.wire.connection.WireSettings;
import dev.onehop.wire.handshake.ClientMetadata;
import dev.onehop.wire.handshake.HandshakeSettings;
import dev.onehop.wire.handshake.Mechanism;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;
import java.util.jar.Manifest;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Translates the driver's settings into the settings of OneHop's own sockets, which connect,
 * authenticate and compress like the sockets of the driver.
 */
public final class DriverSockets {
  private static final Logger log = LoggerFactory.getLogger(DriverSockets.class);
  private static final String DRIVER = "mongo-java-driver";
  private static final int ZLIB_DEFAULT = -1;
  private static final int ZSTD_DEFAULT = 3;

  private DriverSockets() {}

  /**
   * The settings of connections to the real servers.
   *
   * @throws IllegalArgumentException if the credential is incomplete, or has invalid properties
   * @throws IllegalStateException if the mechanism needs a module that is not on the class path
   */
  public static WireSettings of(MongoClientSettings settings, Carrier carrier) {
    List<Compressor> compressors =
        settings.getCompressorList().stream()
            .map(DriverSockets::compressor)
            .filter(DriverSockets::isThere)
            .toList();
    MongoCredential credential = settings.getCredential();
    return new WireSettings(
        sockets(settings.getSocketSettings(), carrier),
        limits(settings.getConnectionPoolSettings()),
        tls(settings.getSslSettings()),
        new HandshakeSettings(
            ClientMetadata.of(settings.getApplicationName(), DRIVER, driverVersion()),
            compressors.stream().map(Compressor::name).toList(),
            credential == null ? null : mechanism(credential)),
        compressors,
        new Addresses(lookup(settings), Map.of()),
        carrier.sharing());
  }

  /**
   * Like {@link #of(MongoClientSettings, Carrier)}, for a carrier whose event loops no other object
   * uses.
   *
   * @param release shuts the carrier's event loops down; called if the settings are invalid
   */
  public static WireSettings of(MongoClientSettings settings, Carrier carrier, Runnable release) {
    try {
      return of(settings, carrier);
    } catch (RuntimeException | Error failure) {
      release.run();
      throw failure;
    }
  }

  private static WireSettings.Sockets sockets(SocketSettings settings, Carrier carrier) {
    ProxySettings proxy = settings.getProxySettings();
    return new WireSettings.Sockets(
        carrier.channelClass(),
        null,
        Duration.ofMillis(settings.getConnectTimeout(TimeUnit.MILLISECONDS)),
        settings.getSendBufferSize(),
        settings.getReceiveBufferSize(),
        proxy.isProxyEnabled()
            ? new WireSettings.Proxy(
                new ServerAddressName(Objects.requireNonNull(proxy.getHost()), proxy.getPort()),
                proxy.getUsername(),
                proxy.getPassword())
            : null);
  }

  private static WireSettings.PoolLimits limits(ConnectionPoolSettings settings) {
    return new WireSettings.PoolLimits(
        settings.getMaxSize(),
        settings.getMinSize(),
        settings.getMaxConnecting(),
        Duration.ofMillis(settings.getMaxWaitTime(TimeUnit.MILLISECONDS)),
        Duration.ofMillis(settings.getMaxConnectionIdleTime(TimeUnit.MILLISECONDS)),
        Duration.ofMillis(settings.getMaxConnectionLifeTime(TimeUnit.MILLISECONDS)));
  }

  private static Compressor compressor(MongoCompressor compressor) {
    String name = compressor.getName().toLowerCase(Locale.ROOT);
    int otherwise = name.equals("zstd") ? ZSTD_DEFAULT : ZLIB_DEFAULT;
    return new Compressor(
        name, compressor.<Integer>getPropertyNonNull(MongoCompressor.LEVEL, otherwise));
  }

  private static boolean isThere(Compressor compressor) {
    boolean there = compressor.isAvailable();
    if (!there) {
      log.warn(
          "compressor {} is disabled: its library is not on the class path", compressor.name());
    }
    return there;
  }

  /** The driver's version in its manifest; null if the manifest was removed. */
  private static @Nullable String driverVersion() {
    String self = "/" + MongoClientSettings.class.getName().replace('.', '/') + ".class";
    String url = String.valueOf(MongoClientSettings.class.getResource(self));
    if (!url.startsWith("jar:") || !url.endsWith(self)) {
      return null;
    }
    String manifest = url.substring(0, url.length() - self.length()) + "/META-INF/MANIFEST.MF";
    try (InputStream in = URI.create(manifest).toURL().openStream()) {
      return new Manifest(in).getMainAttributes().getValue("Bundle-Version");
    } catch (IOException | IllegalArgumentException e) {
      return null;
    }
  }

  /** The resolver of names that the driver uses. */
  private static Addresses.Lookup lookup(MongoClientSettings settings) {
    InetAddressResolver own = settings.getInetAddressResolver();
    if (own != null) {
      return own::lookupByName;
    }
    return ServiceLoader.load(InetAddressResolverProvider.class)
        .findFirst()
        .map(provider -> (Addresses.Lookup) provider.create()::lookupByName)
        .orElse(Addresses.Lookup.SYSTEM);
  }

  private static WireSettings.@Nullable Tls tls(SslSettings settings) {
    if (!settings.isEnabled()) {
      return null;
    }
    SSLContext context;
    try {
      context = settings.getContext() == null ? SSLContext.getDefault() : settings.getContext();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this Java runtime has no TLS", e);
    }
    return new WireSettings.Tls(context, !settings.isInvalidHostNameAllowed());
  }

  /** The mechanism of a credential. */
  static Mechanism mechanism(MongoCredential credential) {
    AuthenticationMechanism mechanism = credential.getAuthenticationMechanism();
    String source = Objects.requireNonNullElse(credential.getSource(), "admin");
    if (mechanism == null) {
      return Mechanism.scram(null, user(credential), source, password(credential));
    }
    return switch (mechanism) {
      case SCRAM_SHA_1, SCRAM_SHA_256 ->
          Mechanism.scram(
              mechanism.getMechanismName(), user(credential), source, password(credential));
      case MONGODB_X509 -> Mechanism.x509(credential.getUserName());
      case PLAIN -> Mechanism.plain(user(credential), source, password(credential));
      case GSSAPI, MONGODB_AWS, MONGODB_OIDC -> provided(credential);
    };
  }

  private static String user(MongoCredential credential) {
    String user = credential.getUserName();
    if (user == null) {
      throw new IllegalArgumentException("the credential names no user");
    }
    return user;
  }

  private static char[] password(MongoCredential credential) {
    char[] password = credential.getPassword();
    if (password == null) {
      throw new IllegalArgumentException("the credential has no password");
    }
    return password;
  }

  private static Mechanism provided(MongoCredential credential) {
    return ServiceLoader.load(MechanismProvider.class, DriverSockets.class.getClassLoader())
        .findFirst()
        // An application server may provide this module while the application contains onehop-auth.
        // The class loader of the thread then finds onehop-auth.
        .or(() -> ServiceLoader.load(MechanismProvider.class).findFirst())
        .orElseThrow(
            () ->
                new IllegalStateException(
                    credential.getMechanism()
                        + " needs dev.onehop:onehop-auth, and the class path has none"))
        .mechanism(credential);
  }
}
