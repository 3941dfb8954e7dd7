package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.ScriptedPeer;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Commands for a job of a scripted server. */
class CopyControlCommandsTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final Queue<BsonDocument> changes = new ConcurrentLinkedQueue<>();
  private volatile @Nullable String job = "{_id: 'j', phase: 'FULL', term: 1}";
  private volatile boolean worked = true;
  @AutoClose private final ScriptedPeer server = ScriptedPeer.withHello(this::answer);

  private void answer(OpMsg request, ChannelHandlerContext context) {
    String found = job;
    if (request.commandName().equals("update") && found != null) {
      changes.add(request.documents("updates").get(0).getDocument("u").getDocument("$set"));
    }
    // The only condition is that a process works on the job.
    boolean matches = worked || !request.body().toJson().contains("$expr");
    String reply =
        request.commandName().equals("update")
            ? "{ok: 1, n: %d, nModified: 1}".formatted(found == null ? 0 : 1)
            : "{ok: 1, cursor: {id: {$numberLong: '0'}, ns: 'onehop_copy.jobs', firstBatch: [%s]}}"
                .formatted(found == null || !matches ? "" : found);
    ByteBuf buffer = context.alloc().buffer();
    request.reply(1, BsonDocument.parse(reply)).encode(buffer);
    context.writeAndFlush(buffer);
  }

  private int run(String command, String... more) {
    List<String> all = new ArrayList<>(List.of("copy", command, "--to", server.url()));
    all.addAll(List.of("--job", "j"));
    all.addAll(List.of(more));
    return OneHopCommand.commandLine()
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(all.toArray(String[]::new));
  }

  @ParameterizedTest
  @CsvSource({"pause, {paused: true}", "continue, {paused: false}", "finish, {finish: true}"})
  void storesRequestInJob(String command, String change) {
    assertThat(run(command)).isZero();
    assertThat(changes).containsExactly(BsonDocument.parse(change));
    assertThat(out.toString() + err).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "continue, it continues after 'copy --resume'",
    "finish, it finishes after 'copy --resume'"
  })
  void reportsJobWithoutProcess(String command, String waits) {
    worked = false;
    assertThat(run(command)).isEqualTo(1);
    assertThat(changes).hasSize(1);
    assertThat(err.toString())
        .isEqualToNormalizingNewlines("onehop: no process runs the job j now: " + waits + "\n");
  }

  @Test
  void finishOfDoneJobNeedsNoProcess() {
    worked = false;
    job = "{_id: 'j', phase: 'DONE'}";
    assertThat(run("finish")).isZero();
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void finishReportsPausedJob() {
    job = "{_id: 'j', phase: 'FULL', paused: true}";
    assertThat(run("finish")).isZero();
    assertThat(err.toString())
        .isEqualToNormalizingNewlines(
            "onehop: the copy is paused, and finishes after 'copy continue'\n");
  }

  @ParameterizedTest
  @CsvSource({"status", "pause", "continue", "finish"})
  void reportsMissingJob(String command) {
    job = null;
    assertThat(run(command)).isEqualTo(1);
    assertThat(err.toString())
        .isEqualToNormalizingNewlines("onehop: the destination has no job j\n");
  }

  @Test
  void statusPrintsFieldsOfJob() {
    job =
        "{_id: 'j', phase: 'FULL', term: 2, owner: 'o', finish: null,"
            + " progress: {phase: 'FULL', ranges: 3, seconds: {full: 1.5}}}";
    assertThat(run("status")).isZero();
    assertThat(out.toString())
        .isEqualToNormalizingNewlines(
            """
            job                  "j"
            phase                "FULL"
            term                 2
            ranges               3
            seconds              {"full": 1.5}
            """);
    out.getBuffer().setLength(0);
    assertThat(run("status", "--json")).isZero();
    assertThat(BsonDocument.parse(out.toString()))
        .isEqualTo(
            BsonDocument.parse(
                "{job: 'j', phase: 'FULL', term: 2,"
                    + " progress: {phase: 'FULL', ranges: 3, seconds: {full: 1.5}}}"));
  }
}
