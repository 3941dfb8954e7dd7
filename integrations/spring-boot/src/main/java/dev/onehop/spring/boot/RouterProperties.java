package dev.onehop.spring.boot;

import dev.onehop.routing.OneHop;
import dev.onehop.routing.OneHopProperty;
import dev.onehop.routing.RoutingMode;
import java.util.Locale;
import java.util.Properties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/**
 * Applies the application's properties to the router. The application sets a {@link OneHopProperty}
 * by its name in Boot's spelling, such as {@code onehop.refresh-interval}; Boot accepts other
 * spellings, too. The mode and pipelining have properties in Boot, but no {@link OneHopProperty}.
 */
final class RouterProperties {
  private RouterProperties() {}

  /** Returns a property's name in Boot's spelling. */
  static String name(OneHopProperty property) {
    return property.key().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }

  static void apply(Environment environment, OneHop.Builder builder) {
    Binder binder = Binder.get(environment);
    Properties given = new Properties();
    for (OneHopProperty each : OneHopProperty.values()) {
      binder.bind(name(each), String.class).ifBound(value -> given.setProperty(each.key(), value));
    }
    builder.properties(given);
    binder.bind("onehop.mode", RoutingMode.class).ifBound(builder::routing);
    if (binder.bind("onehop.pipelining.enabled", boolean.class).orElse(false)) {
      builder.pipelining(
          pipelining -> {
            binder
                .bind("onehop.pipelining.sockets-per-server", int.class)
                .ifBound(pipelining::socketsPerServer);
            binder
                .bind("onehop.pipelining.max-in-flight-per-socket", int.class)
                .ifBound(pipelining::maxInFlightPerSocket);
            binder
                .bind("onehop.pipelining.max-shared-bytes", int.class)
                .ifBound(pipelining::maxSharedBytes);
          });
    }
  }
}
