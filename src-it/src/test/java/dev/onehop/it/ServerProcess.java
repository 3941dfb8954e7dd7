package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.testbed.RunningTestbed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.Document;
import reactor.core.publisher.Mono;

/** The process of a testbed's server, which a test can kill and restart, or freeze and resume. */
final class ServerProcess implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private final String address;
  private ProcessHandle process;
  private final ProcessBuilder command;
  private boolean restarted;

  private ServerProcess(String address, ProcessHandle process) throws IOException {
    this.address = address;
    this.process = process;
    this.command = commandOf(process);
  }

  /**
   * Finds a process.
   *
   * @param topology the name of the testbed's topology
   * @param address the address of the server
   */
  static ServerProcess of(String topology, String address) throws IOException {
    return new ServerProcess(
        address,
        RunningTestbed.all().stream()
            .filter(running -> running.topologyName().equals(topology))
            .flatMap(running -> running.servers().stream())
            .filter(status -> status.address().equals(address))
            .map(status -> ProcessHandle.of(status.pid()).orElseThrow())
            .findFirst()
            .orElseThrow());
  }

  /** The command, environment and folder that a process was started with. */
  private static ProcessBuilder commandOf(ProcessHandle process) throws IOException {
    Path proc = Path.of("/proc", Long.toString(process.pid()));
    ProcessBuilder builder =
        new ProcessBuilder(List.of(Files.readString(proc.resolve("cmdline")).split("\0")))
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    for (String variable : Files.readString(proc.resolve("environ")).split("\0", -1)) {
      int equals = variable.indexOf('=');
      if (equals > 0) {
        builder.environment().put(variable.substring(0, equals), variable.substring(equals + 1));
      }
    }
    return builder.directory(proc.resolve("cwd").toRealPath().toFile());
  }

  String address() {
    return address;
  }

  /** Kills the process and waits for its end. */
  void kill() {
    assertThat(process.destroyForcibly()).isTrue();
    await().atMost(TIMEOUT).until(() -> !process.isAlive());
  }

  /** Starts the server again and waits until it replies. */
  void restart() throws IOException {
    process = command.start().toHandle();
    restarted = true;
    awaitReply();
  }

  /** Stops the process until {@link #resume}. Its sockets stay open. */
  void freeze() throws IOException, InterruptedException {
    signal("STOP");
  }

  void resume() throws IOException, InterruptedException {
    signal("CONT");
  }

  private void signal(String name) throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
    assertThat(kill.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(kill.exitValue()).isZero();
  }

  void awaitReply() {
    try (MongoClient direct =
        MongoClients.create("mongodb://" + address + "/?directConnection=true")) {
      Document pong =
          Mono.from(direct.getDatabase("admin").runCommand(new Document("ping", 1))).block(TIMEOUT);
      assertThat(pong).isNotNull();
    }
  }

  /** Kills a restarted server, because the testbed ends only the processes that it started. */
  @Override
  public void close() {
    if (restarted && process.isAlive()) {
      kill();
    }
  }
}
