package dev.onehop.spring.boot;

import dev.onehop.routing.OneHop;
import dev.onehop.routing.observation.RouterStatus;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Reports the router's health with the types of Boot 4. The health is never DOWN, because
 * operations can still go over the nearest mongos.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ConditionalOnEnabledHealthIndicator.class)
class Boot4Health {
  @Bean
  @ConditionalOnEnabledHealthIndicator("onehop")
  HealthIndicator onehopHealthIndicator(OneHop oneHop) {
    return () -> {
      RouterStatus status = oneHop.status();
      return (status.isReady() ? Health.up() : Health.unknown())
          .withDetails(Details.of(status))
          .build();
    };
  }
}
