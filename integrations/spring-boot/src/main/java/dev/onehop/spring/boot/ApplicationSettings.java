package dev.onehop.spring.boot;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import dev.onehop.routing.OneHop;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Boot's settings of the application's clients, independent of Boot's version.
 *
 * @param uri the URI of Boot's properties or connection details; null if the application defines a
 *     bean of settings, which then applies alone
 * @param settings the bean of settings
 * @param customizers the customizers of the settings, in order
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
