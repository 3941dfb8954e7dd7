package dev.onehop.spring.boot;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import dev.onehop.routing.OneHop;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Boot's own settings of the application's clients, whichever Boot it is.
 *
 * @param uri by Boot's properties or connection details; null if the application has a bean of
 *     settings, which has all
 * @param settings the bean of settings
 * @param customizers in their order
 */
record ApplicationSettings(
    @Nullable ConnectionString uri,
    MongoClientSettings settings,
    List<Consumer<MongoClientSettings.Builder>> customizers) {

  OneHop.Builder builder() {
    OneHop.Builder builder =
        uri == null ? OneHop.builder(settings) : OneHop.builder(uri.getConnectionString());
    customizers.forEach(builder::applyToClientSettings);
    return builder;
  }
}
