package dev.onehop.cli;

import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import dev.onehop.resync.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code onehop doctor}. */
@Command(
    name = "doctor",
    defaultValueProvider = OwnDefaults.class,
    header = "Check whether operations can be routed on a cluster.",
    description =
        "Checks the servers of the URL, their version, the user's privileges, the servers' names,"
            + " near mongoses, zones, round trips and TLS. Shows which modes are possible. The"
            + " command only reads.",
    footer = {
      "Examples:",
      "  onehop doctor --url mongodb://mongos1,mongos2/",
      "  ONEHOP_PASSWORD=... onehop doctor --url 'mongodb+srv://user@example.com/'",
      "  onehop doctor --url mongodb://mongos1/ --zones 'a=*.a.com,b=*.b.com'",
      "  onehop doctor --url mongodb://mongos1/ --out doctor.json",
      "",
      "Exit code: 0 = operations can be routed, 3 = they can't, 1 = the cluster can't be",
      "examined, 2 = the command line was wrong."
    })
final class DoctorCommand extends Subcommand {
  @Option(
      names = "--url",
      required = true,
      paramLabel = "URL",
      description =
          "The application's URL, with onehop.* options. The password comes from"
              + " ONEHOP_PASSWORD.")
  private String url;

  @Option(
      names = "--zones",
      paramLabel = "ZONES",
      description = "Zones to check, in the format of the URL's option onehop.preferredZones.")
  private @Nullable String zones;

  @Option(names = "--json", description = "Print the result as JSON, in place of text.")
  private boolean json;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description =
          "Also write the result as JSON to this file, for a support request. The file contains no"
              + " users and no passwords.")
  private @Nullable Path out;

  @Mixin private ConnectionOptions connection = new ConnectionOptions();

  @Override
  public Integer call() throws InterruptedException {
    String secret =
        ClusterUrl.secret("--url", url, "ONEHOP_PASSWORD", System.getenv("ONEHOP_PASSWORD"));
    Refuse.when(
        out != null && !Files.isDirectory(out.toAbsolutePath().resolveSibling(".")),
        "--out " + out + ": there is no such folder");
    Diagnosis diagnosis;
    try (Progress progress = Progress.start()) {
      diagnosis = new Doctor(secret, zones, connection).examine(progress);
      if (out != null) {
        Files.writeString(out, diagnosis.toJson() + "\n");
      }
    } catch (IOException e) {
      throw Failure.run("--out " + out + ": " + Failure.reason(e), e);
    }
    String text = json ? diagnosis.toJson() : diagnosis.toText(Terminal.detect().columns());
    out().println(text);
    return diagnosis.exitCode();
  }
}
