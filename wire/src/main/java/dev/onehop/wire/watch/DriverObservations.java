package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.observability.ObservabilitySettings;
import io.micrometer.observation.ObservationRegistry;

/**
 * The driver's own observations. It has them since 5.7; with an older one, nothing is done here.
 */
public final class DriverObservations {
  private static final boolean EXIST = exist();

  private DriverObservations() {}

  /** Takes over what the application asked for. */
  public static void copy(MongoClientSettings asked, MongoClientSettings.Builder to) {
    if (EXIST) {
      Settings.copy(asked, to);
    }
  }

  /** For operations that are not the application's. */
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

  /** Loaded only where the driver's class is there. */
  private static final class Settings {

    static void copy(MongoClientSettings asked, MongoClientSettings.Builder to) {
      ObservabilitySettings settings = asked.getObservabilitySettings();
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
