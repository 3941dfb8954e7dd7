package dev.onehop.spring.boot;

import dev.onehop.routing.OneHop;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/** Creates the router that the synchronous and the reactive client share. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(OneHop.class)
@Import({Boot3Settings.class, Boot4Settings.class})
class RouterConfiguration {
  @Bean
  OneHop oneHop(
      ApplicationSettings settings,
      Environment environment,
      ObjectProvider<MeterRegistry> meters,
      ObjectProvider<ObservationRegistry> observations) {
    InternalClients.mute();
    OneHop.Builder builder = settings.builder();
    RouterProperties.apply(environment, builder);
    meters.ifUnique(builder::meterRegistry);
    observations.ifUnique(builder::observationRegistry);
    return builder.build();
  }
}
