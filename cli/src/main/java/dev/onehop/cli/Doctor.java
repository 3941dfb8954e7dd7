package dev.onehop.cli;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoSecurityException;
import com.mongodb.ReadPreference;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Sorts;
import com.mongodb.connection.ClusterConnectionMode;
import dev.onehop.cli.Diagnosis.Finding;
import dev.onehop.cli.Diagnosis.Level;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.OneHopProperty;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.observation.RouterStatus;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Examines a cluster. It starts OneHop's routers for a short time and reads their status. It also
 * reads facts that the routers do not report. It writes nothing. An object is used once, by one
 * thread.
 */
final class Doctor {
  private static final int NOT_ROUTED = 3;
  private static final int UNAUTHORIZED = 13;
  private static final int THREADS = 32;
  private static final int MOST_TABLES = 3;
  private static final int LIVE_SECONDS = 30;
  private static final List<String> READ =
      List.of("shards", "mongos", "databases", "collections", "chunks", "changelog", "version");

  /**
   * Rights that routing does not require. Without the right to read config.changelog, OneHop
   * notices migrations late. Without the right to read config.version, it does not refuse servers
   * of another cluster.
   */
  private static final Set<String> OPTIONAL = Set.of("config.changelog", "config.version");

  private final String url;
  private final @Nullable String zones;
  private final ConnectionOptions connection;
  private final MongoClientSettings settings;
  private final Map<String, String> mapping = new HashMap<>();
  private final List<Finding> findings = new ArrayList<>();
  private final List<String> modes = new ArrayList<>();

  /**
   * The results of the pings of each server. The keys are addresses to which the host mapping is
   * already applied.
   */
  private final Map<String, Probe> probes = new ConcurrentHashMap<>();

  /** The live mongoses, by their names in the metadata. */
  private final Set<String> mongoses = new TreeSet<>();

  private final Map<String, List<String>> shards = new TreeMap<>();

  /** The servers of the URL. */
  private List<String> seeds = List.of();

  /**
   * Checks the options.
   *
   * @param url the application's URL, with the password
   * @param zones the zones to check; null for the zones of the URL
   * @param connection the settings of connections, and the longest wait for a server
   * @throws IllegalArgumentException if the URL or the zones are invalid
   */
  Doctor(String url, @Nullable String zones, ConnectionOptions connection) {
    this.url = url;
    this.zones = zones == null ? option(OneHopProperty.PREFERRED_ZONES) : zones;
    this.connection = connection;
    for (String pair : String.valueOf(option(OneHopProperty.HOST_MAPPING)).split(",", -1)) {
      mapping.put(pair.replaceFirst("=.*", "").strip(), pair.replaceFirst(".*=", "").strip());
    }
    List<MongoClientSettings.Builder> own = new ArrayList<>();
    var unused = builder().applyToClientSettings(own::add);
    this.settings = own.get(0).timeout(connection.timeout().toMillis(), MILLISECONDS).build();
  }

  private OneHop.Builder builder() {
    var settings = connection.client("onehop-doctor");
    OneHop.Builder builder = OneHop.builder(url).applyToClientSettings(settings);
    return zones == null ? builder : builder.preferredZones(zones.split(",", -1));
  }

  /** Twice the timeout, in milliseconds: the limit for a step that may wait for two timeouts. */
  private long most() {
    return 2 * connection.timeout().toMillis();
  }

  private @Nullable String option(OneHopProperty property) {
    var option = Pattern.compile("(?i)[?&]" + property.key() + "=([^&]*)").matcher(url);
    return option.find() ? URLDecoder.decode(option.group(1), StandardCharsets.UTF_8) : null;
  }

  /** Examines the cluster. Blocks for a few times the timeout at most. */
  Diagnosis examine(Progress progress) throws InterruptedException {
    progress.phase("connecting");
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try (MongoClient client = MongoClients.create(settings)) {
      MongoDatabase config = client.getDatabase("config");
      if (url(client) && privileges(config)) {
        List<String> tables = metadata(config);
        progress.phase("starting routers");
        var direct = CompletableFuture.supplyAsync(() -> status(RoutingMode.DIRECT), threads);
        direct.completeOnTimeout(unrouted("no reply in time"), most(), MILLISECONDS);
        RouterStatus targeted = status(RoutingMode.TARGETED, tables.toArray(String[]::new));
        direct.join();
        progress.phase("querying the servers");
        probe(threads, targeted);
        boolean hidden = names();
        boolean isTargeted = affinity(targeted, hidden);
        zones();
        add(Level.OK, "round trips", "from here, the shortest of 20", "", probes(Probe::answers));
        tls();
        String why = targeted.isReady() ? "no mongos near a shard replies" : missing(targeted);
        mode(Level.PROBLEM, "targeted", "possible", isTargeted ? "" : why);
        mode(Level.NO, "direct", "possible; MongoDB does not support it", missing(direct.join()));
      }
    } catch (MongoException e) {
      boolean isUser = e instanceof MongoSecurityException;
      String text = isUser ? "the servers reject the user" : Failure.firstLine(e);
      String advice = "Check names, ports, firewalls, TLS and ONEHOP_PASSWORD.";
      add(Level.PROBLEM, "URL", text, advice, List.of());
      return diagnosis(Failure.RUN, "The cluster can't be examined.");
    } finally {
      threads.shutdownNow();
    }
    if (modes.isEmpty()) {
      return diagnosis(NOT_ROUTED, "Operations can't be routed.");
    }
    mode(Level.NO, "pipelining", "possible, for reactive clients", "");
    return diagnosis(0, "Operations can be routed. Possible: " + String.join(", ", modes) + ".");
  }

  private Diagnosis diagnosis(int exitCode, String verdict) {
    String version = String.join(", ", new Version().getVersion());
    return new Diagnosis(version, exitCode, verdict, modes, findings);
  }

  private void add(Level level, String check, String text, String advice, List<String> details) {
    List<String> lines = details.stream().map(this::withoutUser).toList();
    findings.add(
        new Finding(check, level, withoutUser(text), level == Level.OK ? "" : advice, lines));
  }

  /** Adds a finding with a list of items. If the list is empty, the finding has the level OK. */
  private void unless(
      List<String> found, Level level, String check, String ok, String text, String advice) {
    add(found.isEmpty() ? Level.OK : level, check, found.isEmpty() ? ok : text, advice, found);
  }

  private void mode(Level otherwise, String name, String text, String why) {
    if (why.isEmpty()) {
      modes.add(name);
    }
    add(why.isEmpty() ? Level.OK : otherwise, name, why.isEmpty() ? text : why, "", List.of());
  }

  /**
   * Removes the user's name from a message of a server. Such messages may contain the name, but
   * never the password.
   */
  private String withoutUser(String text) {
    String user = settings.getCredential() == null ? "" : settings.getCredential().getUserName();
    return user == null || user.isEmpty()
        ? text
        : text.replaceAll("(?<=['\" ])" + Pattern.quote(user) + "(?=['\"@ ])", "USER");
  }

  /** Whether the URL leads to a sharded cluster. */
  private boolean url(MongoClient client) {
    if (settings.getClusterSettings().getMode() == ClusterConnectionMode.LOAD_BALANCED) {
      String advice = "Name the mongoses. On Atlas, take the URL without -lb in its host.";
      add(Level.PROBLEM, "URL", "loadBalanced=true hides the mongoses", advice, List.of());
      return false;
    }
    MongoDatabase admin = client.getDatabase("admin");
    Document hello = admin.runCommand(new Document("hello", 1), ReadPreference.nearest());
    var servers = client.getClusterDescription().getServerDescriptions();
    seeds = servers.stream().map(server -> name(server.getAddress())).toList();
    String record = settings.getClusterSettings().getSrvHost();
    String found = (record == null ? " " : " of " + record + ": ") + String.join(", ", seeds);
    boolean isMongos = "isdbgrid".equals(hello.get("msg"));
    boolean isConfig = hello.containsKey("configsvr");
    String other = hello.containsKey("setName") ? "replica set" : "standalone";
    String kind = isMongos ? "mongos" : isConfig ? "config server" : other;
    String why = isConfig ? "Only direct mode works." : "There is nothing to route.";
    Level level = isMongos ? Level.OK : isConfig ? Level.WARNING : Level.PROBLEM;
    add(level, "URL", kind + found, why + " Name the mongoses of a sharded cluster.", List.of());
    version(admin);
    return isMongos || isConfig;
  }

  private void version(MongoDatabase admin) {
    String version = "not readable";
    String compatibility = version;
    try {
      version = admin.runCommand(new Document("buildInfo", 1)).getString("version");
      var isVersion = Filters.eq("featureCompatibilityVersion");
      var found = admin.getCollection("system.version").find(isVersion).first();
      compatibility = found == null ? compatibility : found.getString("version");
    } catch (MongoCommandException e) {
      // Routing does not need the privilege for this command. Without it, the version is unknown.
    }
    Level level = version.startsWith("6.0.") ? Level.OK : Level.WARNING;
    String text = version + ", feature compatibility version " + compatibility;
    add(level, "version", text, "OneHop is tested with 6.0 only.", List.of());
  }

  /** Whether the user's rights are sufficient for routing. */
  private boolean privileges(MongoDatabase config) {
    List<String> missing = new ArrayList<>();
    for (String each : READ) {
      try {
        var unused = config.getCollection(each).find().first();
      } catch (MongoCommandException e) {
        if (e.getErrorCode() != UNAUTHORIZED) {
          throw e;
        }
        missing.add("config." + each);
      }
    }
    boolean isEnough = OPTIONAL.containsAll(missing);
    Level level = isEnough ? Level.WARNING : Level.PROBLEM;
    String ok = "the routing metadata can be read";
    String advice = "Give the user the role read on the database config, or clusterMonitor.";
    unless(missing, level, "privileges", ok, "the user may not read", advice);
    return isEnough;
  }

  /**
   * Reads shards and mongoses.
   *
   * @return the namespaces of some collections. By reading their routing tables, a router measures
   *     round trips
   */
  private List<String> metadata(MongoDatabase config) {
    for (Document shard : config.getCollection("shards").find()) {
      String hosts = shard.getString("host").replaceFirst(".*/", "");
      shards.put(shard.getString("_id"), List.of(hosts.split(",", -1)));
    }
    // A mongos writes the time into its entry every ten seconds. The entry stays after the mongos
    // has ended. So a mongos is live if its time is close to the newest time of all entries.
    var routers = config.getCollection("mongos");
    var newest = routers.find(Filters.exists("ping")).sort(Sorts.descending("ping")).first();
    if (newest != null) {
      var live = newest.getDate("ping").toInstant().minusSeconds(LIVE_SECONDS);
      routers.find(Filters.gte("ping", live)).map(each -> each.getString("_id")).into(mongoses);
    }
    var collections = config.getCollection("collections").find(Filters.ne("dropped", true));
    return collections.limit(MOST_TABLES).map(c -> c.getString("_id")).into(new ArrayList<>());
  }

  private static String name(ServerAddress address) {
    return address.getHost() + ":" + address.getPort();
  }

  private static String host(String name) {
    return name.substring(0, name.lastIndexOf(':'));
  }

  /** The address that the application uses for the server that has this name in the metadata. */
  private String mapped(String name) {
    String host = mapping.getOrDefault(host(name), host(name));
    return mapping.getOrDefault(name, host + name.substring(host(name).length()));
  }

  private List<String> mapped(Collection<String> names) {
    return names.stream().map(this::mapped).toList();
  }

  private RouterStatus status(RoutingMode mode, String... tables) {
    try (OneHop router = builder().routing(mode).build()) {
      return router.ready(connection.timeout(), tables);
    } catch (IllegalArgumentException | MongoException e) {
      return unrouted(Failure.firstLine(e));
    }
  }

  private static RouterStatus unrouted(String why) {
    return new RouterStatus(RouterStatus.NONE, false, null, Map.of(), Map.of(), List.of(why));
  }

  private static String missing(RouterStatus status) {
    return String.join("; ", status.missing());
  }

  private void probe(ExecutorService threads, RouterStatus status) throws InterruptedException {
    Set<String> servers = new TreeSet<>(seeds);
    servers.addAll(mapped(mongoses));
    shards.values().forEach(members -> servers.addAll(mapped(members)));
    status.shards().values().forEach(all -> all.forEach(each -> servers.add(name(each))));
    servers.forEach(each -> probes.put(each, new Probe(each, 0, each + ": no reply")));
    servers.forEach(each -> threads.execute(() -> probes.put(each, Probe.of(each, settings))));
    threads.shutdown();
    var unused = threads.awaitTermination(most(), MILLISECONDS);
  }

  private boolean answers(String server) {
    Probe probe = probes.get(server);
    return probe != null && probe.answers();
  }

  private List<String> probes(Predicate<Probe> which) {
    var nearestFirst = Comparator.comparing(Probe::nanos).thenComparing(Probe::address);
    var found = probes.values().stream().filter(which).sorted(nearestFirst);
    return found.map(Probe::toString).toList();
  }

  /**
   * Checks whether servers can be reached by their names in the metadata. Returns true if none of
   * the metadata's mongoses can be reached.
   */
  private boolean names() {
    boolean hidden = !mongoses.isEmpty() && mapped(mongoses).stream().noneMatch(this::answers);
    List<String> silent = probes(probe -> !probe.answers());
    Level level = hidden ? Level.PROBLEM : Level.WARNING;
    String ok = "all " + probes.size() + " servers can be reached";
    String text =
        hidden ? "no mongos can be reached by its name in config.mongos" : "can't be reached";
    String advice =
        hidden
            ? "Set onehop.hostMapping, FROM=TO for each mongos. " + suggestedMapping()
            : "Start them, open their ports or set onehop.hostMapping. Only direct mode needs the"
                + " shards' members.";
    unless(silent, level, "names", ok, text, advice);
    return hidden;
  }

  /**
   * A host mapping for the mongoses of the URL: from the name in the metadata to the address in the
   * URL. A mongos that does not report its name is left out.
   */
  private String suggestedMapping() {
    Map<String, String> names = new TreeMap<>();
    for (String seed : seeds) {
      var alone = Probe.alone(seed, settings);
      Optional.ofNullable(settings.getCredential()).ifPresent(alone::credential);
      try (MongoClient client = MongoClients.create(alone.build())) {
        Document status = client.getDatabase("admin").runCommand(new Document("serverStatus", 1));
        names.put(status.get("host", ""), seed);
      } catch (MongoException e) {
        // Routing does not need the privilege for this command. Without it, the name is unknown.
      }
    }
    names.keySet().retainAll(mongoses);
    return names.toString().replaceAll("[{} ]", "");
  }

  /** Whether a shard has a near mongos that can be reached. */
  private boolean affinity(RouterStatus status, boolean hidden) {
    if (status.shards().isEmpty()) {
      return false;
    }
    List<String> lines = new ArrayList<>();
    int found = 0;
    for (String shard : shards.keySet()) {
      var routers = status.shards().getOrDefault(shard, List.of()).stream().map(Doctor::name);
      var usable = routers.filter(this::answers).map(router -> router + reason(shard, router));
      String beside = usable.collect(Collectors.joining(", "));
      found += beside.isEmpty() ? 0 : 1;
      lines.add(shard + ": " + (beside.isEmpty() ? "none" : beside));
    }
    Level notAll = found > 0 ? Level.WARNING : Level.PROBLEM;
    String text = "a mongos is near " + found + " of " + shards.size() + " shards";
    String advice =
        hidden
            ? ""
            : "Operations on the other shards go to the mongos that is nearest to the application."
                + " Run a mongos on each primary's host, or name near mongoses in"
                + " onehop.shardRouters.";
    add(found == shards.size() ? Level.OK : notAll, "affinity", text, advice, lines);
    return found > 0;
  }

  /** The reason why a mongos counts as near a shard. */
  private String reason(String shard, String router) {
    if (("," + option(OneHopProperty.SHARD_ROUTERS)).contains("," + shard + "=")) {
      return " (shardRouters)";
    }
    List<String> members = new ArrayList<>(shards.getOrDefault(shard, List.of()));
    members.addAll(mapped(members));
    boolean isSameHost =
        Stream.concat(Stream.of(router), mongoses.stream().filter(n -> mapped(n).equals(router)))
            .anyMatch(name -> members.stream().anyMatch(m -> host(m).equals(host(name))));
    return isSameHost ? " (same host)" : " (round trips)";
  }

  private void zones() {
    if (zones != null) {
      List<String> empty = Stream.of(zones.split(",", -1)).filter(this::isEmpty).toList();
      String text = "no mongos that the URL names replies in these zones:";
      String advice = "Start a mongos in each zone, and name it in the URL.";
      unless(
          empty,
          Level.WARNING,
          "zones",
          "in each zone, a mongos that the URL names replies",
          text,
          advice);
    }
  }

  private boolean isEmpty(String zone) {
    // The hosts of a zone are separated by |, so they are alternatives of a regular expression.
    String hosts = zone.replaceFirst(".*=", "").replace(".", "\\.").replace("*", ".*");
    return seeds.stream().noneMatch(s -> answers(s) && s.matches("(?i)(" + hosts + ")(:\\d+)?"));
  }

  private void tls() {
    var tls = settings.getSslSettings();
    String on =
        tls.isInvalidHostNameAllowed()
            ? "on, names are not verified"
            : "on, names match the certificates";
    String advice = "Add the names to the certificates, or set onehop.hostMapping.";
    List<String> rejected = probes(Probe::isRejectedByTls);
    String ok = tls.isEnabled() ? on : "off";
    unless(rejected, Level.WARNING, "TLS", ok, "on, certificates are rejected", advice);
  }
}
