package dev.onehop.cli;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import dev.onehop.resync.Failure;
import dev.onehop.resync.Interruption;
import dev.onehop.testbed.RunningTestbed;
import dev.onehop.testbed.ServerInfo.RouterKind;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code onehop topology up}. */
@Command(
    name = "up",
    header = "Start a topology and keep it running until Ctrl-C.",
    description =
        "Shards the collection ycsb.usertable, splits it for workloada, and prints commands to"
            + " try.",
    footer = {
      "Examples:",
      "  onehop topology up                 us-2014 until Ctrl-C",
      "  onehop topology up --detach --topology my-regions.yaml",
      "  onehop explain --url URL ycsb.usertable '{\"_id\": \"user1\"}'    with the printed URL"
    })
final class TopologyUpCommand extends Subcommand {

  /** A start takes some ten seconds, but longer if it has to download the servers first. */
  private static final Duration START_TIMEOUT = Duration.ofMinutes(10);

  @Mixin private ServerOptions servers = new ServerOptions();

  @Option(
      names = "--detach",
      description = "Run in the background; stop it with 'onehop topology down NAME'.")
  private boolean detach;

  @Override
  public Integer call() throws IOException, InterruptedException {
    servers.check();
    Topology topology = servers.topology(spec);
    return detach ? detach(topology) : keepRunning(topology);
  }

  private int keepRunning(Topology topology) throws InterruptedException {
    CompletableFuture<String> death = new CompletableFuture<>();
    try (Testbed testbed =
        servers
            .testbed(topology)
            .progress(spec.commandLine().getErr()::println)
            .prepared(started -> UserTable.shard(started, UserTable.RECORDS))
            .start()) {
      testbed.onProcessDeath(failure -> death.complete(failure.describe()));
      describe(testbed.url(), testbed.server().router() == RouterKind.STAND_IN);
      tryNext(testbed.url());
      out().println("Ctrl-C stops it.");
      // If the JVM ends, the testbed ends with it. So this wait ends only if a server ends
      // unexpectedly.
      throw Failure.run(death.join(), null);
    }
  }

  private void describe(String url, boolean standIns) {
    out().println("URL: " + url);
    if (standIns) {
      out().println("Routers: STAND-IN (no mongos binary was found)");
    }
  }

  /** Prints commands that can be pasted. */
  private void tryNext(String url) {
    if (servers.existingOptions.keyFile != null) {
      return; // these commands would need the user's name and password
    }
    out()
        .print(
            """

            Try next (%1$s is sharded, split and empty):
              %2$s explain --url %3$s %1$s '{"_id": "user1"}'
              %4$s load targeted-async -P workloads/workloada -p mongodb.url=%3$s/ycsb -threads 16
              %4$s run targeted-async -P workloads/workloada -p mongodb.url=%3$s/ycsb -threads 16
              %2$s bench scenario shard-freeze --url %3$s --overwrite --quick

            """
                .formatted(UserTable.NAMESPACE, program("onehop"), url, program("ycsb")));
  }

  /** The path of a program of OneHop. It is relative if the program is below the current folder. */
  private static String program(String name) {
    Path current = Path.of("").toAbsolutePath();
    Path program =
        InstallationFolder.folder().toAbsolutePath().normalize().resolve("bin").resolve(name);
    return (program.startsWith(current) ? current.relativize(program) : program).toString();
  }

  @SuppressWarnings("try") // A signal during the start also ends the background process.
  private int detach(Topology topology) throws IOException, InterruptedException {
    Path begun = Files.createTempFile("onehop-" + topology.name() + "-", ".log");
    Process child =
        new ProcessBuilder(childCommand())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(begun.toFile())
            .redirectErrorStream(true)
            .start();
    Path log = Files.move(begun, log(topology.name(), child.pid()), REPLACE_EXISTING);
    try (Interruption unused = Interruption.ofThisThread()) {
      return awaitReady(topology, child, log);
    } catch (InterruptedException e) {
      child.destroy();
      Files.delete(log);
      throw e;
    }
  }

  /** The log of a topology in the background. */
  static Path log(String topology, long ownerPid) {
    return Path.of(
        System.getProperty("java.io.tmpdir"), "onehop-" + topology + "-" + ownerPid + ".log");
  }

  private int awaitReady(Topology topology, Process child, Path log)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
    while (System.nanoTime() - deadline < 0) {
      Optional<RunningTestbed> ready =
          RunningTestbed.all().stream()
              .filter(run -> run.ownerPid() == child.pid() && run.isReady())
              .findFirst();
      if (ready.isPresent()) {
        describe(ready.get().url(), ready.get().hasStandInRouters());
        out().println("Log: " + log);
        tryNext(ready.get().url());
        out()
            .println("'" + program("onehop") + " topology down " + topology.name() + "' stops it.");
        return 0;
      }
      if (!child.isAlive()) {
        throw Failure.run(lastWords(log), null);
      }
      Thread.sleep(100);
    }
    child.destroy();
    throw Failure.run("not up within " + START_TIMEOUT.toMinutes() + " min; see " + log, null);
  }

  /** The same command in a separate session, so that Ctrl-C in this terminal does not reach it. */
  private List<String> childCommand() {
    List<String> command = new ArrayList<>();
    command.add("setsid");
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Donehop.home=" + InstallationFolder.folder());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(OneHopCommand.class.getName());
    spec.commandLine().getParseResult().originalArgs().stream()
        .filter(argument -> !argument.equals("--detach"))
        .forEach(command::add);
    return command;
  }

  private static String lastWords(Path log) throws IOException {
    String prefix = "onehop: ";
    return Files.readAllLines(log).stream()
        .filter(line -> line.startsWith(prefix))
        .reduce((first, last) -> last)
        .map(line -> line.substring(prefix.length()))
        .orElse("the background process ended; see " + log);
  }
}
