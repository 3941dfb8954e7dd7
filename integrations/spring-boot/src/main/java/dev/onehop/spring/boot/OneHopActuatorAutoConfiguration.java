package dev.onehop.spring.boot;

import dev.onehop.routing.OneHop;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.info.ConditionalOnEnabledInfoContributor;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** The router's beans for Boot's actuator: health, info and an endpoint. */
@AutoConfiguration(after = OneHopAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnSingleCandidate(OneHop.class)
@Import({Boot3Health.class, Boot4Health.class})
public class OneHopActuatorAutoConfiguration {
  @Bean
  @ConditionalOnAvailableEndpoint
  @ConditionalOnMissingBean
  OneHopEndpoint oneHopEndpoint(OneHop oneHop) {
    return new OneHopEndpoint(oneHop);
  }

  @Bean
  @ConditionalOnEnabledInfoContributor("onehop")
  InfoContributor onehopInfoContributor(OneHop oneHop) {
    return info -> info.withDetail("onehop", Details.summary(oneHop.status()));
  }
}
