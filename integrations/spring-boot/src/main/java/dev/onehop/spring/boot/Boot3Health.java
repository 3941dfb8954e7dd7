package dev.onehop.spring.boot;

import dev.onehop.routing.OneHop;
import dev.onehop.routing.observation.RouterStatus;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Reports the router's health with the types of Boot 3. The health is never DOWN, because
 * operations can still go over the nearest mongos.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ConditionalOnEnabledHealthIndicator.class)
class Boot3Health {
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
