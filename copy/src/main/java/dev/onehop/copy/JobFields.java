package dev.onehop.copy;

import com.mongodb.MongoCredential;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.ClusterIdentity;
import dev.onehop.copy.internal.structure.ReadOrder;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyPhase;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/** The fields of a job's document that describe the settings and the two clusters. */
final class JobFields {
  /** The version of the stored format. */
  private static final BsonInt32 FORMAT = new BsonInt32(1);

  private JobFields() {}

  /** The fields of every new job. */
  static BsonDocument of(
      ClusterEnd source,
      ClusterEnd destination,
      CopySettings settings,
      @Nullable BsonDocument known)
      throws InterruptedException {
    BsonDocument old = known == null ? new BsonDocument() : known;
    BsonDocument fields =
        new BsonDocument("format", FORMAT)
            .append("incarnation", new BsonObjectId(new ObjectId()))
            .append("phase", new BsonString(CopyPhase.START.name()))
            .append("source", identity(source))
            .append("user", user(destination))
            .append("mapping", mapping(settings))
            .append("transformed", BsonBoolean.valueOf(settings.mapping().transformation() != null))
            // With the old incarnations, this job makes late writes of the old jobs' processes
            // fail. With the id of the old plan, it removes that plan.
            .append("replaces", replacing(old))
            .append("oldPlan", old.get("plan", BsonNull.VALUE));
    for (String ofRun :
        List.of(
            "orderBy", "reverses", "paused", "finish", "progress", "finishedAt", "finishedThere")) {
      fields.append(ofRun, BsonNull.VALUE);
    }
    return fields;
  }

  /**
   * The incarnations of the jobs that a new job replaces. If the old job has not left its first
   * phase, it may not have fenced the jobs that it has replaced itself.
   */
  private static BsonArray replacing(BsonDocument old) {
    BsonArray all = new BsonArray();
    if (new BsonString(CopyPhase.START.name()).equals(old.get("phase"))) {
      all.addAll(replaced(old.get("replaces")));
    }
    if (old.containsKey("incarnation")) {
      all.add(old.get("incarnation"));
    }
    return all;
  }

  /**
   * The incarnations of the jobs that a job replaces.
   *
   * @param stored the job's field: a list, or one id or null in the jobs of earlier versions
   */
  static List<BsonValue> replaced(@Nullable BsonValue stored) {
    if (stored instanceof BsonArray several) {
      return several;
    }
    return stored instanceof BsonObjectId ? List.of(stored) : List.of();
  }

  /** The name of the index that sets the read order; BSON null without such an index. */
  static BsonValue orderBy(CopySettings settings) {
    ReadOrder order = settings.order();
    return order == null ? BsonNull.VALUE : new BsonString(order.toString());
  }

  private static BsonArray identity(ClusterEnd source) throws InterruptedException {
    return new BsonArray(ClusterIdentity.ofJob(source).stream().map(BsonString::new).toList());
  }

  private static BsonDocument mapping(CopySettings settings) {
    Mapping mapping = settings.mapping();
    BsonDocument document =
        new BsonDocument("included", strings(mapping.included()))
            .append("excluded", strings(mapping.excluded()))
            .append("renamed", pairs(mapping.renamed(), name -> name))
            .append("filters", pairs(mapping.filters(), BsonDocument::toJson))
            .append("operations", strings(settings.operations().stream().map(Enum::name).toList()));
    return mapping.inverse() ? document.append("inverse", strings(List.of("inverse"))) : document;
  }

  private static <T> BsonArray pairs(Map<String, T> values, Function<T, String> text) {
    BsonArray pairs = new BsonArray();
    values.forEach(
        (name, value) ->
            pairs.add(
                new BsonArray(List.of(new BsonString(name), new BsonString(text.apply(value))))));
    return pairs;
  }

  /**
   * The mapping of a job, with its patterns and new names, but without its filters and
   * transformation.
   */
  static Mapping mapping(BsonDocument stored) {
    Map<String, String> renamed = new HashMap<>();
    for (BsonValue pair : stored.getArray("renamed")) {
      renamed.put(string(pair.asArray().get(0)), string(pair.asArray().get(1)));
    }
    return new Mapping(
        strings(stored.getArray("included")),
        strings(stored.getArray("excluded")),
        renamed,
        Map.of(),
        null,
        stored.containsKey("inverse"));
  }

  private static List<String> strings(BsonArray values) {
    return values.stream().map(JobFields::string).toList();
  }

  private static String string(BsonValue value) {
    return value.asString().getValue();
  }

  private static BsonArray strings(List<String> values) {
    return new BsonArray(values.stream().sorted().map(BsonString::new).toList());
  }

  /**
   * Checks that a job is resumed with the settings with which it was begun.
   *
   * @throws CopyException if they differ
   */
  static void requireSame(ClusterEnd source, CopySettings settings, BsonDocument known)
      throws InterruptedException {
    requireFormat(settings, known);
    boolean reverse = known.get("reverses") instanceof BsonObjectId;
    if (reverse != settings.reverse()) {
      throw new CopyException(
          (reverse
                  ? "the job %s is a reverse copy, and can only be resumed as a reverse copy"
                  : "the job %s is not a reverse copy, and can't be resumed as a reverse copy")
              .formatted(settings.job()));
    }
    if (settings.order() != null && !orderBy(settings).equals(known.get("orderBy"))) {
      throw new CopyException(
          "the job " + settings.job() + " was begun with another orderBy: use the same orderBy");
    }
    if (!isCopyOf(source, known)) {
      throw new CopyException("the job " + settings.job() + " is a copy of another source");
    }
    if (!sorted(known.getDocument("mapping")).equals(sorted(mapping(settings)))) {
      throw new CopyException(
          "the job "
              + settings.job()
              + " was begun with other collections, names, filters or operations: use the same");
    }
  }

  /**
   * Checks that this version of the program has begun a job.
   *
   * @throws CopyException if another version has begun it
   */
  static void requireFormat(CopySettings settings, BsonDocument known) {
    if (!FORMAT.equals(known.get("format"))) {
      throw new CopyException(
          "the job " + settings.job() + " was begun by another version of this program");
    }
  }

  /**
   * Requires the same user as in the earlier processes of the job. A server's session belongs to
   * one user. So the lanes of another user would not make late writes of the earlier processes
   * fail.
   */
  static void requireUser(ClusterEnd destination, CopySettings settings, BsonDocument known) {
    BsonString begun = known.getString("user", new BsonString(""));
    if (!begun.equals(user(destination))) {
      throw new CopyException(
          "the job %s was begun by the user %s of the destination: use the same user"
              .formatted(settings.job(), begun.getValue().isEmpty() ? "(none)" : begun.getValue()));
    }
  }

  private static BsonString user(ClusterEnd destination) {
    MongoCredential credential = destination.settings().getCredential();
    String name = credential == null ? null : credential.getUserName();
    return new BsonString(
        credential == null || name == null ? "" : name + "@" + credential.getSource());
  }

  /** Whether a cluster is the source of a job. */
  static boolean isCopyOf(ClusterEnd cluster, BsonDocument job) throws InterruptedException {
    BsonArray now = identity(cluster);
    BsonArray then = job.getArray("source");
    return cluster.isSharded() ? then.equals(now) : then.stream().anyMatch(now::contains);
  }

  private static Set<String> sorted(BsonDocument mapping) {
    Set<String> all = new TreeSet<>();
    mapping.forEach(
        (name, values) -> {
          for (BsonValue value : values.asArray()) {
            all.add(name + " " + new BsonDocument("", value).toJson());
          }
        });
    return all;
  }
}
