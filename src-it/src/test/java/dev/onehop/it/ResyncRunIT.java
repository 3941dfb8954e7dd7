package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.onehop.cli.OneHopCommand;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Makes members by both methods. Also checks that after a failure, the source is not locked, the
 * member is not added, and no data is left.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("full")
class ResyncRunIT {

  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private Path folder;
  private ResyncSet set;

  /** How a command ended. */
  private record CommandResult(int exitCode, String stdout, String stderr) {}

  @BeforeAll
  void start(@TempDir Path temporary) throws Exception {
    folder = temporary;
    set = new ResyncSet(folder);
  }

  @AfterAll
  void stop() throws Exception {
    set.close();
  }

  @AfterEach
  void assertUnlockedAndRemoveTargets() throws Exception {
    assertThat(set.isLocked()).isFalse();
    set.removeTargets();
  }

  private CommandResult run(String... options) {
    List<String> all = new ArrayList<>(List.of("resync", "run", "--url", set.url()));
    all.addAll(Arrays.asList(options));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(all.toArray(String[]::new));
    return new CommandResult(exitCode, out.toString(), err.toString());
  }

  private CommandResult copyTo(String host, Path dbpath, String... more) {
    List<String> options =
        new ArrayList<>(
            List.of("--to", host, "--dbpath", dbpath.toString(), "--start", set.start()));
    options.addAll(Arrays.asList(more));
    return run(options.toArray(String[]::new));
  }

  private static void await(BooleanSupplier condition) {
    Awaitility.await()
        .pollInterval(Duration.ofMillis(20))
        .atMost(TIMEOUT)
        .until(condition::getAsBoolean);
  }

  private void assertMember(String host) throws InterruptedException {
    Document entry =
        set.config().getList("members", Document.class).stream()
            .filter(member -> member.getString("host").equals(host))
            .findFirst()
            .orElseThrow();
    assertThat(entry.get("votes")).isEqualTo(0);
    assertThat(((Number) entry.get("priority")).intValue()).isZero();
    assertThat(set.admin(host, "hello").getBoolean("secondary")).isTrue();
    set.writeAndAwait(host, set.source());
    assertThat(set.hash(host)).isEqualTo(set.hash(set.primary())).isEqualTo(set.hash(set.source()));
  }

  @Tag("nightly")
  @Test
  void createsTwoMembersFromOneCopy() throws Exception {
    String one = set.free();
    String two = set.free();
    CommandResult result =
        run(
            "--to",
            one + "," + two,
            "--dbpath",
            set.target("one") + "," + set.target("two"),
            "--start",
            set.start());

    assertThat(result.stderr()).isEmpty();
    assertThat(result.exitCode()).isZero();
    assertThat(result.stdout()).contains(one, two, "No initial sync required", "was locked for");
    assertMember(one);
    assertMember(two);
  }

  /**
   * When the source is locked, it begins another journal file of 100 MiB. The estimate of the
   * lock's duration must include this file.
   */
  @Test
  void lockIsNotLongerThanEstimated() throws Exception {
    PrintStream before = System.err;
    ByteArrayOutputStream errorOutput = new ByteArrayOutputStream();
    System.setErr(new PrintStream(errorOutput, true, StandardCharsets.UTF_8));
    CommandResult result;
    try {
      result = copyTo(set.free(), set.target("estimated"), "--limit", "20");
    } finally {
      System.setErr(before);
    }

    assertThat(result.stderr()).isEmpty();
    Matcher estimate =
        Pattern.compile(" takes about (\\d+) s; the oplog")
            .matcher(errorOutput.toString(StandardCharsets.UTF_8));
    Matcher locked = Pattern.compile("was locked for ([0-9.]+) s").matcher(result.stdout());
    assertThat(estimate.find()).as(errorOutput.toString(StandardCharsets.UTF_8)).isTrue();
    assertThat(locked.find()).as(result.stdout()).isTrue();
    assertThat(Double.parseDouble(locked.group(1)))
        .isLessThan(1.25 * Integer.parseInt(estimate.group(1)) + 3);
  }

  @Test
  void copiesWithCustomCommand() throws Exception {
    String host = set.free();
    Path dbpath = set.target("it's a command");
    Files.createDirectories(dbpath);
    // A script in place of rsync, which also writes its arguments to a file.
    Path arguments = folder.resolve("arguments");
    Path rsync = folder.resolve("rsync");
    Files.writeString(
        rsync,
        """
        #!/bin/sh
        printf '%%s\n' "$@" > '%s'
        tar -C "$3" -T "${2#--files-from=}" -cf - | tar -C "${4#*:}" -xf -
        """
            .formatted(arguments));
    assertThat(rsync.toFile().setExecutable(true)).isTrue();
    CommandResult result =
        copyTo(
            host, dbpath, "--copy", rsync + " -a --files-from={files} {source}/ {host}:{dbpath}/");
    assertThat(result.stderr()).isEmpty();
    assertThat(Files.readAllLines(arguments))
        .hasSize(4)
        .startsWith("-a")
        .endsWith(
            folder.resolve("member1") + "/", host.replaceFirst(":.*", "") + ":" + dbpath + "/");
    assertThat(result.stdout()).contains("No initial sync required");
    assertMember(host);

    CommandResult failed =
        copyTo(set.free(), set.target("fails"), "--copy", "echo no such host; exit 7");
    assertThat(failed.stderr()).contains("--copy ended with 7: no such host");
    assertThat(failed.exitCode()).isEqualTo(1);
    assertThat(set.isLocked()).isFalse();
  }

  @Test
  void createsMemberByInitialSyncAndRebuildsIt() throws Exception {
    String host = set.free();
    CommandResult result = copyTo(host, set.target("logical"), "--method", "logical", "--hidden");

    assertThat(result.stderr()).isEmpty();
    assertThat(result.exitCode()).isZero();
    assertThat(result.stdout()).contains("initial sync, method logical").doesNotContain("locked");
    assertMember(host);

    // Makes the same member again from files, after its server has ended.
    assertRefused("is up", "--to", host, "--dbpath", set.target("rebuilt").toString(), "--rebuild");
    set.targets().forEach(ProcessHandle::destroyForcibly);
    await(() -> set.targets().isEmpty());
    await(() -> !isUp(host));
    CommandResult rebuilt = copyTo(host, set.target("rebuilt"), "--rebuild");
    assertThat(rebuilt.stderr()).isEmpty();
    assertThat(rebuilt.stdout()).contains("No initial sync required");
    assertMember(host);
  }

  private boolean isUp(String host) {
    return set.admin(set.primary(), "replSetGetStatus").getList("members", Document.class).stream()
        .anyMatch(
            member ->
                member.getString("name").equals(host)
                    && ((Number) member.get("health")).intValue() == 1);
  }

  private void assertRefused(String why, String... options) {
    Document before = set.config();
    CommandResult result = run(options);
    assertThat(result.stderr()).contains(why).hasLineCount(1);
    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.stdout()).isEmpty();
    assertThat(set.config()).isEqualTo(before);
    assertThat(set.isLocked()).isFalse();
  }

  @Test
  void rejectsInvalidOptionsBeforeAnyChange() throws Exception {
    Path target = set.target("refused");
    String to = set.free();
    String dbpath = target.toString();
    assertRefused("is the primary", "--to", to, "--dbpath", dbpath, "--source", set.primary());
    assertRefused(
        "is not a member of the replica set", "--to", to, "--dbpath", dbpath, "--source", to);
    assertRefused(
        "is already a member of the replica set", "--to", set.source(), "--dbpath", dbpath);
    assertRefused("covers only", "--to", to, "--dbpath", dbpath, "--rate", "0.0000001");
    assertRefused(
        "is not a member of the replica set", "--to", to, "--dbpath", dbpath, "--rebuild");
    assertRefused(
        "has to use wiredTiger",
        "--to",
        to,
        "--dbpath",
        dbpath,
        "--start",
        "mongod --storageEngine inMemory");
    assertRefused("--to and --dbpath need the same number", "--to", to);
    assertRefused(" twice", "--to", to + "," + set.free(), "--dbpath", dbpath + "," + dbpath);
    assertRefused("no WiredTiger data", "--to", to, "--dbpath", dbpath, "--source-dbpath", "/tmp");
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.61.1.2"))) {
      assertRefused(
          "another process already listens on",
          "--to",
          "127.61.1.2:" + taken.getLocalPort(),
          "--dbpath",
          dbpath,
          "--start",
          "true");
    }

    Path other = Files.createDirectories(folder.resolve("other/bin")).resolve("mongod");
    Files.writeString(other, "#!/bin/sh\necho 'db version v5.0.14'\n");
    assertThat(other.toFile().setExecutable(true)).isTrue();
    assertRefused(
        "has version 5.0.14",
        "--to",
        to,
        "--dbpath",
        dbpath,
        "--start",
        other + " --dbpath {dbpath}");
    assertThat(target).doesNotExist();

    Files.createDirectories(target);
    Files.writeString(target.resolve("mine"), "text");
    assertRefused("is not empty", "--to", to, "--dbpath", dbpath);
    assertThat(target.resolve("mine")).hasContent("text");
  }

  @Test
  void keepsExistingLockOfSource() {
    set.admin(set.source(), new Document("fsync", 1).append("lock", true));
    try {
      CommandResult result = run("--to", set.free(), "--dbpath", set.target("locked").toString());
      assertThat(result.stderr()).contains("is already locked");
      assertThat(set.isLocked()).isTrue();
    } finally {
      set.admin(set.source(), "fsyncUnlock");
    }
  }

  /**
   * Starts the tool in a separate process, and waits until it has locked the source. The copy is
   * slow, so the lock lasts long enough for the test.
   */
  private Process startAndAwaitLock(String host, Path dbpath, String deadline) throws Exception {
    Process tool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                OneHopCommand.class.getName(),
                "resync",
                "run",
                "--url",
                set.url(),
                "--to",
                host,
                "--dbpath",
                dbpath.toString(),
                "--limit",
                "1",
                "--rate",
                "1000",
                "--lock-deadline",
                deadline,
                "--start",
                set.start())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("tool.log").toFile())
            .start();
    await(
        () -> {
          assertThat(tool.isAlive()).isTrue();
          return set.isLocked();
        });
    return tool;
  }

  @Test
  void killedToolUnlocksSourceAndCanRunAgain() throws Exception {
    String host = set.free();
    Path dbpath = set.target("killed");
    Process tool = startAndAwaitLock(host, dbpath, "10m");
    await(
        () ->
            Files.exists(dbpath.resolve("WiredTiger.turtle")) || dbpath.toFile().list().length > 2);
    tool.destroyForcibly().waitFor();
    await(() -> !set.isLocked());

    assertThat(dbpath).isNotEmptyDirectory();
    CommandResult again = copyTo(host, dbpath);
    assertThat(again.stderr()).isEmpty();
    assertThat(again.exitCode()).isZero();
    assertMember(host);
  }

  @Test
  void hangingToolKeepsLockUntilDeadline() throws Exception {
    long begun = System.nanoTime();
    Process tool = startAndAwaitLock(set.free(), set.target("hung"), "4s");
    new ProcessBuilder("kill", "-STOP", String.valueOf(tool.pid())).start().waitFor();
    try {
      await(() -> !set.isLocked());
      assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofSeconds(4));
    } finally {
      new ProcessBuilder("kill", "-CONT", String.valueOf(tool.pid())).start().waitFor();
    }
    assertThat(tool.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(tool.exitValue()).isEqualTo(1);
    assertThat(folder.resolve("tool.log")).content().contains("deadline of 4000 ms has passed");
    assertThat(set.target("hung")).doesNotExist();
    assertThat(set.members()).hasSize(2);
  }

  @Test
  void failsWhenLockProcessIsKilled() throws Exception {
    Path dbpath = set.target("orphan");
    // This JVM has other child processes, too, such as the shared cluster's routers.
    List<ProcessHandle> others = ProcessHandle.current().children().toList();
    CompletableFuture<CommandResult> running =
        CompletableFuture.supplyAsync(
            () -> copyTo(set.free(), dbpath, "--limit", "1", "--rate", "1000"));
    await(set::isLocked);
    ProcessHandle.current()
        .children()
        .filter(child -> !others.contains(child))
        .filter(child -> child.info().command().orElse("").endsWith("/java"))
        .forEach(ProcessHandle::destroyForcibly);

    CommandResult result = running.get();
    assertThat(result.stderr()).contains("the process that locks ", " ended early");
    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(set.isLocked()).isFalse();
    assertThat(dbpath).doesNotExist();
  }

  @Tag("nightly")
  @Test
  void killedTargetIsRemovedAndCanBeRecreated() throws Exception {
    for (String method : List.of("files", "logical")) {
      String host = set.free();
      Path dbpath = set.target("dies-" + method);
      CompletableFuture<CommandResult> running =
          CompletableFuture.supplyAsync(() -> copyTo(host, dbpath, "--method", method));
      await(() -> !set.targets().isEmpty());
      if (method.equals("logical")) {
        await(() -> set.members().contains(host));
      }
      set.targets().forEach(ProcessHandle::destroyForcibly);

      CommandResult result = running.get();
      assertThat(result.stderr()).contains("the server of " + host + " ended with exit code 137");
      assertThat(result.exitCode()).isEqualTo(1);
      assertThat(set.members()).hasSize(2);
      assertThat(dbpath).doesNotExist();

      if (method.equals("files")) {
        CommandResult again = copyTo(host, dbpath);
        assertThat(again.stderr()).isEmpty();
        assertMember(host);
        set.removeTargets();
      }
    }
  }

  @Tag("nightly")
  @Test
  void reportsInsufficientOrFullDisk() throws Exception {
    Path mount = Files.createDirectories(folder.resolve("small"));
    assumeTrue(
        new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=400m", "none", mount.toString())
                .start()
                .waitFor()
            == 0,
        "needs the right to mount");
    try {
      Path dbpath = mount.resolve("db");
      Path filler = mount.resolve("filler");
      Files.write(filler, new byte[380 << 20]);
      assertRefused(
          "MiB free, but the copy needs", "--to", set.free(), "--dbpath", dbpath.toString());
      Files.delete(filler);

      String host = set.free();
      CompletableFuture<CommandResult> running =
          CompletableFuture.supplyAsync(
              () -> copyTo(host, dbpath, "--limit", "5", "--rate", "1000"));
      await(set::isLocked);
      Process fill =
          new ProcessBuilder("dd", "if=/dev/zero", "of=" + filler, "bs=1M")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      fill.waitFor();
      CommandResult result = running.get();
      assertThat(result.stderr()).contains("the copy failed: No space left on device");
      assertThat(result.exitCode()).isEqualTo(1);
      assertThat(set.isLocked()).isFalse();
      assertThat(dbpath).doesNotExist();
      assertThat(set.members()).hasSize(2);
    } finally {
      new ProcessBuilder("umount", "-l", mount.toString()).start().waitFor();
    }
  }
}
