package dev.onehop.spring.boot;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/** The reflection and resource hints for a native image. */
class OneHopRuntimeHints implements RuntimeHintsRegistrar {
  /** Channel classes that Netty creates by reflection. */
  static final List<String> CHANNELS =
      List.of(
          "dev.onehop.routing.internal.router.VirtualMongos",
          "dev.onehop.wire.channel.CallerWritesChannel",
          "dev.onehop.wire.driver.ProxiedChannels$Channel");

  /** The files by which the router detects libraries, and the file with the router's version. */
  private static final List<String> RESOURCES =
      List.of(
          "com/mongodb/MongoClientSettings.class",
          "com/mongodb/client/MongoClients.class",
          "com/mongodb/reactivestreams/client/MongoClients.class",
          "dev/onehop/wire/handshake/version.properties",
          "io/micrometer/core/instrument/MeterRegistry.class",
          "io/netty/buffer/ByteBuf.class",
          "io/netty/channel/Channel.class",
          "io/netty/handler/ssl/SslHandler.class",
          "io/netty/util/Version.class",
          "reactor/core/publisher/Mono.class");

  @Override
  public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
    for (String channel : CHANNELS) {
      hints
          .reflection()
          .registerType(TypeReference.of(channel), MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS);
    }
    RESOURCES.forEach(hints.resources()::registerPattern);
  }
}
