package dev.onehop.resync;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataFolderTest {
  @TempDir private Path folder;

  private void write(String name, int bytes) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.write(file, new byte[bytes]);
  }

  @Test
  void lockedSourceHasOneMoreJournalFile() throws IOException {
    write("collection-0.wt", 1_000);
    write("journal/WiredTigerLog.0000000001", 30);
    write("journal/WiredTigerLog.0000000002", 100);
    write("journal/WiredTigerPreplog.0000000001", 100);
    DataFolder data = new DataFolder(folder);
    assertThat(data.size()).isEqualTo(1_130);
    assertThat(data.sizeLocked()).isEqualTo(1_230);
  }

  @Test
  void lockedSizeIsEqualWithoutJournal() throws IOException {
    write("collection-0.wt", 1_000);
    assertThat(new DataFolder(folder).sizeLocked()).isEqualTo(1_000);
  }
}
