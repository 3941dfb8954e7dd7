package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.observability.ObservabilitySettings;
import io.micrometer.observation.ObservationRegistry;

/**
 * The driver's settings for observations of its operations. Drivers before 5.7 have none, so the
 * methods then do nothing.
 */
public final class DriverObservations {
  private static final boolean EXIST = exist();

  private DriverObservations() {}

  /** Copies the application's settings for observations. */
  public static void copy(MongoClientSettings given, MongoClientSettings.Builder to) {
    if (EXIST) {
      Settings.copy(given, to);
    }
  }

  /** Turns the observations off, for operations that are not the application's. */
  static void turnOff(MongoClientSettings.Builder settings) {
    if (EXIST) {
      Settings.turnOff(settings);
    }
  }

  private static boolean exist() {
    try {
      Class.forName("com.mongodb.observability.ObservabilitySettings");
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  /** A separate class, because it uses classes that drivers before 5.7 lack. */
  private static final class Settings {

    static void copy(MongoClientSettings given, MongoClientSettings.Builder to) {
      ObservabilitySettings settings = given.getObservabilitySettings();
      if (settings != null) {
        to.observabilitySettings(settings);
      }
    }

    static void turnOff(MongoClientSettings.Builder settings) {
      settings.observabilitySettings(
          ObservabilitySettings.micrometerBuilder()
              .observationRegistry(ObservationRegistry.NOOP)
              .build());
    }
  }
}
