package dev.onehop.spring.boot;

import com.mongodb.MongoClientSettings;
import java.util.function.Consumer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.boot.mongodb.autoconfigure.MongoConnectionDetails;
import org.springframework.boot.mongodb.autoconfigure.StandardMongoClientSettingsBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Collects the application's settings with the types of Boot 4. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(MongoConnectionDetails.class)
class Boot4Settings {
  /**
   * @param standard applies the connection details; absent if the application defines its own
   *     settings
   */
  @Bean
  ApplicationSettings oneHopApplicationSettings(
      MongoConnectionDetails details,
      MongoClientSettings settings,
      ObjectProvider<StandardMongoClientSettingsBuilderCustomizer> standard,
      ObjectProvider<MongoClientSettingsBuilderCustomizer> customizers) {
    return new ApplicationSettings(
        standard.stream().findAny().isPresent() ? details.getConnectionString() : null,
        settings,
        customizers
            .orderedStream()
            .<Consumer<MongoClientSettings.Builder>>map(each -> each::customize)
            .toList());
  }
}
