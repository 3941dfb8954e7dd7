package dev.onehop.wire.watch;

import com.mongodb.ReadPreference;
import com.mongodb.Tag;
import com.mongodb.TagSet;
import com.mongodb.TaggableReadPreference;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.CommandFields;
import dev.onehop.wire.message.ErrorCodes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInvalidOperationException;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** Parses {@code $readPreference}, in the driver's format for a mongos. */
final class ReadPreferences {
  /** The least {@code maxStalenessSeconds} that servers accept. */
  private static final int LEAST_MAX_STALENESS_SECONDS = 90;

  private ReadPreferences() {}

  /**
   * Converts {@code $readPreference} to the driver's read preference.
   *
   * @param document the document; null for the primary
   */
  static ReadPreference of(@Nullable BsonDocument document) {
    if (document == null) {
      return ReadPreference.primary();
    }
    try {
      return read(document);
    } catch (BsonInvalidOperationException | IllegalArgumentException e) {
      throw new CommandFailure(
          ErrorCodes.FAILED_TO_PARSE,
          "FailedToParse",
          "Could not parse $readPreference " + document.toJson() + ": " + e.getMessage());
    }
  }

  private static ReadPreference read(BsonDocument document) {
    String mode = document.getString("mode", new BsonString("primary")).getValue();
    List<TagSet> tagSets = new ArrayList<>();
    for (BsonValue set : document.getArray("tags", new BsonArray())) {
      List<Tag> tags = new ArrayList<>();
      for (Map.Entry<String, BsonValue> tag : set.asDocument().entrySet()) {
        tags.add(new Tag(tag.getKey(), tag.getValue().asString().getValue()));
      }
      tagSets.add(new TagSet(tags));
    }
    if (mode.equalsIgnoreCase("primary")) {
      return ReadPreference.primary();
    }
    TaggableReadPreference preference = ReadPreference.valueOf(mode, tagSets);
    long maxStaleness = CommandFields.number(document, "maxStalenessSeconds");
    if (maxStaleness == 0) {
      return preference;
    }
    if (maxStaleness < LEAST_MAX_STALENESS_SECONDS) {
      throw new CommandFailure(
          ErrorCodes.MAX_STALENESS_OUT_OF_RANGE,
          "MaxStalenessOutOfRange",
          "maxStalenessSeconds value can not be less than " + LEAST_MAX_STALENESS_SECONDS);
    }
    return preference.withMaxStalenessMS(maxStaleness, TimeUnit.SECONDS);
  }
}
