package dev.onehop.wire.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import org.xerial.snappy.Snappy;

class CompressedMessagesTest {
  private static final byte[] CONTENT =
      "what a command says, says, says".getBytes(StandardCharsets.US_ASCII);

  @Test
  void expandsEveryCompressorOfDriver() throws IOException {
    assertThat(expanded(0, CONTENT)).isEqualTo(CONTENT);
    assertThat(expanded(1, Snappy.compress(CONTENT))).isEqualTo(CONTENT);
    assertThat(expanded(2, deflated())).isEqualTo(CONTENT);
    assertThat(expanded(3, Zstd.compress(CONTENT))).isEqualTo(CONTENT);
  }

  @Test
  void rejectsDamagedAndUnknownCompression() {
    for (int compressor = 1; compressor <= 4; compressor++) {
      ByteBuf damaged = compressed(compressor, new byte[] {1, 2, 3, 4, 5});
      assertThatThrownBy(() -> CompressedMessages.expandWhole(damaged))
          .as("compressor %d", compressor)
          .isInstanceOf(WireProtocolException.class);
    }
  }

  @Test
  void zlibWorksWithoutOtherLibraries() throws Exception {
    Class<?> alone = new WithoutLibraries().loadClass(CompressedMessages.class.getName(), true);
    Method expand = alone.getDeclaredMethod("expand", ByteBuf.class);
    expand.setAccessible(true);

    ByteBuf plain = (ByteBuf) expand.invoke(null, compressed(2, deflated()));

    assertThat(content(plain)).isEqualTo(CONTENT);
    assertThat(expand.invoke(null, compressed(3, Zstd.compress(CONTENT)))).isNull();
    assertThat(expand.invoke(null, compressed(1, Snappy.compress(CONTENT)))).isNull();
  }

  private static byte[] expanded(int compressor, byte[] content) {
    ByteBuf plain = CompressedMessages.expandWhole(compressed(compressor, content));
    assertThat(plain).isNotNull();
    return content(plain);
  }

  private static byte[] content(ByteBuf plain) {
    byte[] content = new byte[plain.readableBytes() - OpMsg.HEADER_BYTES];
    plain.getBytes(OpMsg.HEADER_BYTES, content);
    return content;
  }

  private static ByteBuf compressed(int compressor, byte[] content) {
    return Unpooled.buffer()
        .writeIntLE(OpMsg.HEADER_BYTES + 9 + content.length)
        .writeIntLE(1)
        .writeIntLE(0)
        .writeIntLE(CompressedMessages.OP_COMPRESSED)
        .writeIntLE(OpMsg.OP_MSG)
        .writeIntLE(CONTENT.length)
        .writeByte(compressor)
        .writeBytes(content);
  }

  private static byte[] deflated() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DeflaterOutputStream deflater = new DeflaterOutputStream(bytes)) {
      deflater.write(CONTENT);
    }
    return bytes.toByteArray();
  }

  /** Loads the classes of the transport without the libraries for snappy and zstd. */
  private static final class WithoutLibraries extends ClassLoader {
    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith("com.github.luben.") || name.startsWith("org.xerial.")) {
        throw new ClassNotFoundException(name);
      }
      if (!name.startsWith(CompressedMessages.class.getPackageName())) {
        return super.loadClass(name, resolve);
      }
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) {
        return loaded;
      }
      try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
        if (in == null) {
          throw new ClassNotFoundException(name);
        }
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }
}
