package dev.onehop.measure.points;

import dev.onehop.resync.Failure;
import dev.onehop.ycsb.KeyPopulation;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The YCSB workload of the points: a workload file and properties that override it.
 *
 * @param name the name of the workload in results
 * @param properties all properties of the workload, including overrides
 */
public record Workload(String name, Map<String, String> properties) {

  /**
   * The properties that the bench sets for each point, with the option that replaces each of them.
   */
  private static final Map<String, String> OURS =
      Map.of(
          "threadcount", "--threads",
          "operationcount", "--operations",
          "maxexecutiontime", "--duration",
          "onehop.connections", "--connections",
          "mongodb.maxconnections", "--connections",
          "db", "--modes");

  private static final Set<String> RESERVED =
      Set.of(
          "mongodb.url",
          "onehop.warmup",
          "onehop.warmup.least",
          "onehop.summary",
          "onehop.rate",
          "onehop.arrivals",
          "onehop.latencies",
          "onehop.byshard",
          "onehop.drain",
          "onehop.duration",
          "onehop.error",
          "onehop.windows",
          "onehop.workload",
          "status.interval",
          "measurementtype",
          "hdrhistogram.fileoutput",
          "hdrhistogram.output.path",
          "exporter",
          "exportfile",
          "dotransactions",
          "insertcount");

  private static final Set<String> COUNTS =
      Set.of("fieldcount", "fieldlength", "minscanlength", "maxscanlength");

  private static final Pattern COUNT = Pattern.compile("[1-9][0-9]{0,8}");

  private static final String CORE_WORKLOAD = "site.ycsb.workloads.CoreWorkload";

  /** The distributions of {@code CoreWorkload}. */
  private static final List<String> DISTRIBUTIONS =
      List.of("uniform", "exponential", "sequential", "zipfian", "latest", "hotspot");

  /**
   * Reads the file and applies the overrides.
   *
   * @throws Failure if the file can't be read or is malformed, or an override names a property that
   *     the bench sets
   */
  public static Workload load(Path file, Map<String, String> overrides) {
    for (String name : overrides.keySet()) {
      if (OURS.containsKey(name)) {
        throw Failure.usage("-p " + name + ": use " + OURS.get(name));
      }
      if (RESERVED.contains(name)) {
        throw Failure.usage("-p " + name + ": the bench sets this property");
      }
    }
    Properties read = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      read.load(reader);
    } catch (IOException e) {
      throw Failure.usage("cannot read workload " + file + ": " + Failure.reason(e));
    } catch (IllegalArgumentException e) {
      throw Failure.usage("workload " + file + " is not a properties file");
    }
    Map<String, String> all = new TreeMap<>();
    read.stringPropertyNames().forEach(name -> all.put(name, read.getProperty(name).strip()));
    if (!all.containsKey("workload")) {
      throw Failure.usage(
          "workload " + file + " names no workload class (workload=site.ycsb.workloads...)");
    }
    OURS.keySet().forEach(all::remove);
    RESERVED.forEach(all::remove);
    all.putAll(overrides);
    all.forEach(Workload::check);
    Path name = file.getFileName();
    Workload workload = new Workload(name == null ? file.toString() : name.toString(), all);
    String distribution = all.getOrDefault("requestdistribution", DISTRIBUTIONS.get(0));
    if (workload.workloadClass().endsWith(".CoreWorkload")
        && !DISTRIBUTIONS.contains(distribution)) {
      throw Failure.usage(
          "requestdistribution is '%s': must be one of %s"
              .formatted(distribution, String.join(", ", DISTRIBUTIONS)));
    }
    return workload;
  }

  /** Checks properties early, because YCSB would refuse them only after its process has started. */
  private static void check(String name, String value) {
    if (name.endsWith("proportion")) {
      double share;
      try {
        share = Double.parseDouble(value);
      } catch (NumberFormatException e) {
        share = Double.NaN;
      }
      if (!(share >= 0 && share <= 1)) {
        throw Failure.usage(name + " is '" + value + "': must be a number from 0 to 1");
      }
    } else if (COUNTS.contains(name) && !COUNT.matcher(value).matches()) {
      throw Failure.usage(name + " is '" + value + "': must be a whole number above 0");
    }
  }

  /** The number of records, by the properties. */
  public long records() {
    return keys().size();
  }

  /**
   * Returns ids that divide the records into ranges of equal size.
   *
   * @param ranges the number of ranges
   */
  public List<String> splitPoints(int ranges) {
    return keys().splitPoints(ranges);
  }

  /**
   * Returns the keys of the records.
   *
   * @throws Failure if the properties do not describe keys
   */
  KeyPopulation keys() {
    try {
      return KeyPopulation.of(properties);
    } catch (IllegalArgumentException e) {
      throw Failure.usage(String.valueOf(e.getMessage()));
    }
  }

  /** Returns this workload with another number of records and the same first record. */
  public Workload withRecords(long records) {
    Map<String, String> all = new TreeMap<>(properties);
    all.put("recordcount", String.valueOf(insertStart() + records));
    Workload resized = new Workload(name, all);
    resized.records();
    return resized;
  }

  /** The number of the first record. */
  long insertStart() {
    try {
      return KeyPopulation.insertStart(properties);
    } catch (IllegalArgumentException e) {
      throw Failure.usage(String.valueOf(e.getMessage()));
    }
  }

  /** The name of the workload's class. */
  String workloadClass() {
    return properties.getOrDefault("workload", CORE_WORKLOAD);
  }

  /** The name of the collection, which YCSB calls a table. */
  String collection() {
    return properties.getOrDefault("table", "usertable");
  }

  /**
   * Checks that several clients can run this workload: the clients divide the records by the key
   * numbers of YCSB's CoreWorkload.
   *
   * @throws Failure if the workload's class is not YCSB's CoreWorkload
   */
  public void requireSharable() {
    if (!workloadClass().equals(CORE_WORKLOAD)) {
      throw Failure.usage("--clients needs YCSB's CoreWorkload, not " + workloadClass());
    }
  }

  /** Whether a point of this workload inserts documents. */
  boolean inserts() {
    return !properties.getOrDefault("insertproportion", "0").matches("0(\\.0*)?");
  }
}
