package dev.onehop.routing.internal.client;

import com.mongodb.ClientSessionOptions;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoDriverInformation;
import com.mongodb.MongoNamespace;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.model.bulk.ClientBulkWriteOptions;
import java.lang.reflect.Constructor;
import org.bson.codecs.configuration.CodecRegistry;

/** Arguments for calls of the official interfaces. */
final class Samples {
  private Samples() {}

  static Object of(Class<?> type) {
    if (type == ReadPreference.class) {
      return ReadPreference.primary();
    }
    if (type == ReadConcern.class) {
      return ReadConcern.LOCAL;
    }
    if (type == WriteConcern.class) {
      return WriteConcern.W1;
    }
    if (type == CodecRegistry.class) {
      return MongoClientSettings.getDefaultCodecRegistry();
    }
    if (type == ClientSessionOptions.class) {
      return ClientSessionOptions.builder().build();
    }
    if (type == MongoNamespace.class) {
      return new MongoNamespace("test.other");
    }
    if (type == ClientBulkWriteOptions.class) {
      return ClientBulkWriteOptions.clientBulkWriteOptions();
    }
    if (type == MongoDriverInformation.class) {
      return MongoDriverInformation.builder().driverName("test").build();
    }
    // All that is left are options with a constructor without arguments.
    try {
      Constructor<?> constructor = type.getConstructor();
      return constructor.newInstance();
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("no sample of " + type, e);
    }
  }
}
