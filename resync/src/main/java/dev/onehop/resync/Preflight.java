package dev.onehop.resync;

import com.mongodb.MongoException;
import com.mongodb.client.MongoCollection;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** Checks all conditions before anything is locked or changed. */
record Preflight(ReplicaSetStatus set, ResyncPlan plan, Progress progress) {

  /** The file that marks a folder with an unfinished copy of an earlier run. */
  static final String MARKER = ".onehop-resync";

  private static final int PRIMARY = 1;
  private static final int SECONDARY = 2;
  private static final double MEBIBYTE = 1 << 20;
  private static final int PROBE_BYTES = 32 << 20;

  /**
   * A target needs this many times the size of the data as free space. A server needs more space
   * than its data when it starts.
   */
  private static final double ROOM = 1.1;

  /**
   * If less than this share of the oplog's maximum size is used, the oplog counts as not full yet.
   */
  private static final double FULL = 0.9;

  /** The assumed rate of an initial sync, in mebibytes of documents per second. */
  private static final double LOGICAL_RATE = 10;

  /** The assumed rate of a command that copies to another host, in mebibytes per second. */
  private static final double COPY_RATE = 50;

  /** The upper bound of estimates, in seconds: ten years. */
  private static final double MOST_SECONDS = 3650 * 86_400.0;

  private static final Pattern VERSION = Pattern.compile("db version v(\\d+\\.\\d+\\.\\S+)");
  private static final Pattern ENGINE = Pattern.compile("--storageEngine[ =](\\S+)");

  /**
   * The result of the checks.
   *
   * @param source the member whose files are copied, or the primary for an initial sync
   * @param folder the source's data folder; null for an initial sync
   * @param version the source's version
   * @param byHand the command by which the user can start a server with the set's data, without
   *     address and data folder
   */
  record Checked(Member source, @Nullable DataFolder folder, String version, String byHand) {}

  /** The major and minor version, such as {@code 6.0}. */
  static String feature(String version) {
    String[] parts = version.split("\\.", -1);
    return parts[0] + "." + parts[1];
  }

  /**
   * Runs all checks.
   *
   * @throws Failure if a condition does not hold
   */
  Checked check() throws IOException, InterruptedException {
    Document config = set.config();
    List<Document> states = set.states();
    for (Target target : plan.targets()) {
      requireNoMember(config, states, target);
      requireFree(target);
    }
    requireDifferent();
    boolean files = plan.method() == ResyncMethod.FILES;
    Member source = files ? set.member(source(config, states)) : set.primary();
    String version = source.require("buildInfo").getString("version");
    requireSameVersions(source, version);
    Document options = source.require("getCmdLineOpts").get("parsed", new Document());
    DataFolder folder = null;
    long bytes;
    double rate;
    if (files) {
      requireLockable(source);
      folder = sourceFolder(source, options);
      bytes = folder.sizeLocked();
      requireRoom(folder.size());
      rate = plan.rate() == null ? rate(folder) : plan.rate();
    } else {
      bytes = dataSize(source);
      rate = plan.rate() == null ? LOGICAL_RATE : plan.rate();
    }
    requireWindow(source, bytes, rate);
    warnOfMajority(config, states, source);
    return new Checked(source, folder, version, byHand(config, options));
  }

  private void requireNoMember(Document config, List<Document> states, Target target) {
    boolean known = !find(members(config), "host", target.host()).isEmpty();
    if (known != plan.rebuild()) {
      throw Failure.usage(
          target.host()
              + (known
                  ? " is already a member of the replica set; remove it first, or give --rebuild"
                  : " is not a member of the replica set, but --rebuild needs a member"));
    }
    Document report = find(states, "name", target.host());
    if (known && Member.number(report, "health") == 1) {
      throw Failure.usage(
          "%s is up, in state %s; stop it before the rebuild"
              .formatted(target.host(), report.getString("stateStr")));
    }
  }

  private void requireDifferent() {
    Set<Object> seen = new HashSet<>();
    for (Target target : plan.targets()) {
      Path dbpath = plan.folder(target);
      if (!seen.add(target.host())
          || (dbpath != null && !seen.add(dbpath.toAbsolutePath().normalize()))) {
        throw Failure.usage("each new member needs a separate --to and a separate --dbpath");
      }
    }
  }

  private void requireFree(Target target) throws IOException, InterruptedException {
    Path dbpath = plan.folder(target);
    if (dbpath != null && Files.exists(dbpath)) {
      if (!Files.isDirectory(dbpath) || !Files.isWritable(dbpath)) {
        throw Failure.usage("--dbpath " + dbpath + " is not a writable folder");
      }
      try (Stream<Path> content = Files.list(dbpath)) {
        List<String> names = content.map(path -> String.valueOf(path.getFileName())).toList();
        if (!names.contains(MARKER)
            && names.stream().anyMatch(name -> !name.equals("lost+found"))) {
          throw Failure.usage("--dbpath " + dbpath + " is not empty");
        }
      }
    } else if (dbpath != null && !Files.isWritable(parent(dbpath))) {
      throw Failure.usage("--dbpath " + dbpath + " cannot be created: its parent is not writable");
    }
    String start = plan.start();
    if (start != null) {
      if (NewMember.answers(target)) {
        throw Failure.usage("another process already listens on " + target.host());
      }
      Matcher engine = ENGINE.matcher(start);
      if (engine.find() && !engine.group(1).equals("wiredTiger")) {
        throw Failure.usage(
            "--start has --storageEngine %s, but the new member has to use wiredTiger"
                .formatted(engine.group(1)));
      }
    }
  }

  private static Path parent(Path path) {
    return Objects.requireNonNull(path.toAbsolutePath().getParent());
  }

  /** The member whose files are copied. */
  private String source(Document config, List<Document> states) {
    String named = plan.source();
    if (named == null) {
      return members(config).stream()
          .filter(member -> member.getBoolean("hidden", false))
          .map(member -> member.getString("host"))
          .filter(host -> state(states, host) == SECONDARY)
          .findFirst()
          .orElseThrow(
              () ->
                  Failure.usage(
                      "the replica set has no hidden secondary; use --source to name the member to"
                          + " lock"));
    }
    if (find(members(config), "host", named).isEmpty()) {
      throw Failure.usage("--source " + named + " is not a member of the replica set");
    }
    int state = state(states, named);
    if (state == PRIMARY && !plan.allowPrimary()) {
      throw Failure.usage(
          ("--source %s is the primary, and its lock would block all writes; name a secondary, or"
                  + " give --allow-primary")
              .formatted(named));
    }
    if (state != PRIMARY && state != SECONDARY) {
      throw Failure.usage("--source " + named + " is neither a secondary nor the primary");
    }
    return named;
  }

  private static int state(List<Document> states, String host) {
    return find(states, "name", host).getInteger("state", -1);
  }

  private static List<Document> members(Document config) {
    return config.getList("members", Document.class);
  }

  /** Returns the document with a host in this field; empty if there is none. */
  private static Document find(List<Document> documents, String field, String host) {
    return documents.stream()
        .filter(document -> document.getString(field).equalsIgnoreCase(host))
        .findFirst()
        .orElseGet(Document::new);
  }

  private void requireSameVersions(Member source, String version) throws InterruptedException {
    Document there = compatibility(source);
    if (!there.equals(compatibility(set.primary())) || there.containsKey("targetVersion")) {
      throw Failure.usage(
          "the feature compatibility version of the replica set is being changed; wait until the"
              + " change is complete");
    }
    String start = plan.start();
    String program = start == null ? "" : start.strip().split("\\s+", 2)[0];
    if (program.equals("mongod") || program.endsWith("/mongod")) {
      String its = versionOf(program);
      if (!feature(its).equals(feature(version))) {
        throw Failure.usage(
            "%s has version %s, but %s has version %s: major and minor version must be equal"
                .formatted(program, its, source.host(), version));
      }
    }
  }

  private static Document compatibility(Member member) {
    return member
        .require(new Document("getParameter", 1).append("featureCompatibilityVersion", 1))
        .get("featureCompatibilityVersion", Document.class);
  }

  private static String versionOf(String program) throws InterruptedException {
    try {
      Process asked = new ProcessBuilder(program, "--version").redirectErrorStream(true).start();
      String said = new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      asked.waitFor();
      Matcher version = VERSION.matcher(said);
      if (version.find()) {
        return version.group(1);
      }
      throw Failure.usage(program + " prints no version");
    } catch (IOException e) {
      throw Failure.usage("cannot run " + program + ": " + Failure.firstLine(e));
    }
  }

  private static void requireLockable(Member source) {
    Document engine = source.require("serverStatus").get("storageEngine", Document.class);
    if (!"wiredTiger".equals(engine.getString("name"))) {
      throw Failure.usage(
          "%s has the storage engine %s; only files of wiredTiger can be copied"
              .formatted(source.host(), engine.getString("name")));
    }
    if (source.require("currentOp").getBoolean("fsyncLock", false)) {
      throw Failure.usage(source.host() + " is already locked by another client");
    }
  }

  private DataFolder sourceFolder(Member source, Document options) {
    Path given = plan.sourceFolder();
    Path path = given;
    if (path == null) {
      path = Path.of(options.getEmbedded(List.of("storage", "dbPath"), "/data/db"));
      if (!path.isAbsolute()) {
        throw Failure.usage(
            source.host()
                + " reports a relative path of its data folder; give the absolute path with"
                + " --source-dbpath");
      }
    }
    DataFolder folder = new DataFolder(path);
    if (!folder.isData()) {
      throw Failure.usage(
          given == null
              ? "the data folder of %s, %s, cannot be read on this host; set --source-dbpath"
                  .formatted(source.host(), path)
              : "--source-dbpath " + path + " contains no WiredTiger data");
    }
    return folder;
  }

  private void requireRoom(long bytes) throws IOException {
    Map<FileStore, Long> needed = new HashMap<>();
    Map<FileStore, Path> where = new HashMap<>();
    for (Path target : plan.folders()) {
      Path folder = existing(target);
      FileStore store = Files.getFileStore(folder);
      needed.merge(store, (long) (bytes * ROOM), Long::sum);
      where.put(store, folder);
    }
    for (Map.Entry<FileStore, Long> need : needed.entrySet()) {
      long free = need.getKey().getUsableSpace();
      if (free < need.getValue()) {
        throw Failure.usage(
            "%s has only %,d MiB free, but the copy needs %,d MiB"
                .formatted(where.get(need.getKey()), free >> 20, need.getValue() >> 20));
      }
    }
  }

  private static Path existing(Path path) {
    return Files.exists(path) ? path : parent(path);
  }

  private double rate(DataFolder folder) throws IOException {
    double rate = plan.copy() == null ? probe(folder) : COPY_RATE;
    return plan.limit() == null ? rate : Math.min(rate, plan.limit());
  }

  /**
   * Copies a part of a file to each target, and measures the rate. Returns the rate of the slowest
   * target, in mebibytes per second.
   */
  private double probe(DataFolder folder) throws IOException {
    Path largest =
        folder.files().entrySet().stream()
            .max(Map.Entry.comparingByValue())
            .map(file -> folder.path().resolve(file.getKey()))
            .orElseThrow();
    double least = Double.MAX_VALUE;
    for (Path target : plan.folders()) {
      Path probe = Files.createTempFile(existing(target), ".onehop", null);
      try (InputStream in = Files.newInputStream(largest);
          FileOutputStream out = new FileOutputStream(probe.toFile())) {
        byte[] bytes = new byte[PROBE_BYTES];
        long begun = System.nanoTime();
        int size = in.readNBytes(bytes, 0, PROBE_BYTES);
        out.write(bytes, 0, size);
        out.getFD().sync();
        double seconds = (System.nanoTime() - begun) / 1e9;
        least = Math.min(least, size / MEBIBYTE / seconds);
      } finally {
        Files.delete(probe);
      }
    }
    return least;
  }

  private static long dataSize(Member source) {
    long bytes = 0;
    for (Document database : source.require("listDatabases").getList("databases", Document.class)) {
      String name = database.getString("name");
      if (!name.equals("local")) {
        Document stats = source.client().getDatabase(name).runCommand(new Document("dbStats", 1));
        bytes += Member.number(stats, "dataSize");
      }
    }
    return bytes;
  }

  /**
   * Checks that the oplog covers the estimated time of the copy. The new member reads the oplog
   * from the start of the copy, so this position must still exist when the copy ends.
   */
  private void requireWindow(Member source, long bytes, double mebibytesPerSecond) {
    Duration estimate = Duration.ofMillis((long) (bytes / MEBIBYTE / mebibytesPerSecond * 1000));
    Duration window = oplogWindow(source);
    progress.note(
        "copying %,d MiB from %s takes about %s; the oplog of this member covers %s"
            .formatted(
                bytes >> 20, source.host(), Progress.about(estimate), Progress.about(window)));
    if (window.compareTo(estimate) < 0) {
      throw Failure.usage(
          ("the oplog of %s covers only %s, but the copy takes about %s (--rate sets the expected"
                  + " rate of the copy)")
              .formatted(source.host(), Progress.about(window), Progress.about(estimate)));
    }
  }

  /**
   * The time that the oplog covers. If the oplog is not full yet, its mean rate of growth is
   * extrapolated to its full size.
   */
  private static Duration oplogWindow(Member source) {
    try {
      MongoCollection<Document> oplog =
          source.client().getDatabase("local").getCollection("oplog.rs");
      BsonTimestamp first = end(oplog, 1);
      BsonTimestamp last = end(oplog, -1);
      long seconds = Math.max(1, (long) last.getTime() - first.getTime());
      Document stats =
          source.client().getDatabase("local").runCommand(new Document("collStats", "oplog.rs"));
      double size = Math.max(1, Member.number(stats, "size"));
      double most = Member.number(stats, "maxSize");
      double factor = size < FULL * most ? most / size : 1;
      return Duration.ofSeconds((long) Math.min(seconds * factor, MOST_SECONDS));
    } catch (MongoException e) {
      throw Failure.run(
          "cannot read the oplog of " + source.host() + ": " + Failure.firstLine(e), e);
    }
  }

  private static BsonTimestamp end(MongoCollection<Document> oplog, int order) {
    Document entry = oplog.find().sort(new Document("$natural", order)).limit(1).first();
    return Objects.requireNonNull(entry).get("ts", BsonTimestamp.class);
  }

  /** Warns if no majority of voting members is left while the source is locked. */
  private void warnOfMajority(Document config, List<Document> states, Member source) {
    if (plan.method() != ResyncMethod.FILES) {
      return;
    }
    int voting = 0;
    int left = 0;
    for (Document member : members(config)) {
      if (Member.number(member, "votes") > 0) {
        voting++;
        String host = member.getString("host");
        int state = state(states, host);
        if ((state == PRIMARY || state == SECONDARY) && !host.equals(source.host())) {
          left++;
        }
      }
    }
    if (left <= voting / 2) {
      progress.note(
          ("While %s is locked, writes with write concern majority wait, because the other members"
                  + " that are up have no majority of the votes.")
              .formatted(source.host()));
    }
  }

  /**
   * The command to start a server by hand, with the source's options that are necessary to open its
   * data.
   */
  private static String byHand(Document config, Document options) {
    StringBuilder command = new StringBuilder("mongod --replSet ").append(config.getString("_id"));
    Document storage = options.get("storage", new Document());
    if (storage.getBoolean("directoryPerDB", false)) {
      command.append(" --directoryperdb");
    }
    if (storage.getEmbedded(List.of("wiredTiger", "engineConfig", "directoryForIndexes"), false)) {
      command.append(" --wiredTigerDirectoryForIndexes");
    }
    String role = options.getEmbedded(List.of("sharding", "clusterRole"), String.class);
    if (role != null) {
      command.append(" --").append(role);
    }
    String keyFile = options.getEmbedded(List.of("security", "keyFile"), String.class);
    if (keyFile != null) {
      command.append(" --keyFile ").append(keyFile);
    }
    Document tls = options.getEmbedded(List.of("net", "tls"), new Document());
    return tls.isEmpty() ? command.toString() : command + " (and the TLS options of the source)";
  }
}
