package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Connects a blocking socket to a server through a SOCKS5 proxy (RFC 1928, RFC 1929). This class
 * exists because the SOCKS sockets of the Java runtime accept a password only from a global
 * authenticator.
 */
final class SocksTunnel {
  private static final int VERSION = 5;
  private static final int LOGIN_VERSION = 1;
  private static final int WITHOUT_LOGIN = 0;
  private static final int WITH_PASSWORD = 2;
  private static final int CONNECT = 1;
  private static final int IPV4 = 1;
  private static final int NAME = 3;
  private static final int IPV6 = 4;
  private static final int MAX_TEXT = 255;

  private SocksTunnel() {}

  /**
   * Makes the proxy connect this socket to a server.
   *
   * @throws IOException if the proxy refuses, or is no SOCKS5 proxy
   */
  static void open(Socket socket, WireSettings.Proxy proxy, ServerAddressName server)
      throws IOException {
    DataInputStream in = new DataInputStream(socket.getInputStream());
    OutputStream out = socket.getOutputStream();
    boolean withLogin = proxy.user() != null;
    out.write(
        withLogin
            ? new byte[] {VERSION, 2, WITHOUT_LOGIN, WITH_PASSWORD}
            : new byte[] {VERSION, 1, WITHOUT_LOGIN});
    expect(in.readUnsignedByte() == VERSION, proxy, "speaks no SOCKS5");
    int method = in.readUnsignedByte();
    if (method == WITH_PASSWORD && withLogin) {
      logIn(in, out, proxy);
    } else {
      expect(method == WITHOUT_LOGIN, proxy, "requires another authentication method");
    }
    out.write(request(WireSettings.Proxy.destination(server)));
    expect(in.readUnsignedByte() == VERSION, proxy, "speaks no SOCKS5");
    int status = in.readUnsignedByte();
    expect(status == 0, proxy, "cannot connect: " + why(status));
    in.skipNBytes(1);
    int addressBytes =
        switch (in.readUnsignedByte()) {
          case IPV4 -> 4;
          case IPV6 -> 16;
          case NAME -> in.readUnsignedByte();
          default -> throw new IOException(proxy + " speaks no SOCKS5");
        };
    in.skipNBytes(addressBytes + 2L);
  }

  private static void logIn(DataInputStream in, OutputStream out, WireSettings.Proxy proxy)
      throws IOException {
    byte[] user = text(proxy.user());
    byte[] password = text(proxy.password());
    byte[] login = new byte[3 + user.length + password.length];
    login[0] = LOGIN_VERSION;
    login[1] = (byte) user.length;
    System.arraycopy(user, 0, login, 2, user.length);
    login[2 + user.length] = (byte) password.length;
    System.arraycopy(password, 0, login, 3 + user.length, password.length);
    out.write(login);
    in.skipNBytes(1);
    expect(in.readUnsignedByte() == 0, proxy, "refuses the user");
  }

  private static byte[] text(@Nullable String text) throws IOException {
    byte[] bytes = text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > MAX_TEXT) {
      throw new IOException("a name or a password is too long for a SOCKS5 proxy");
    }
    return bytes;
  }

  private static byte[] request(InetSocketAddress server) throws IOException {
    byte[] address =
        server.isUnresolved() ? text(server.getHostString()) : server.getAddress().getAddress();
    int type = server.isUnresolved() ? NAME : address.length == 4 ? IPV4 : IPV6;
    int at = type == NAME ? 5 : 4;
    byte[] request = new byte[at + address.length + 2];
    request[0] = VERSION;
    request[1] = CONNECT;
    request[3] = (byte) type;
    request[4] = (byte) address.length;
    System.arraycopy(address, 0, request, at, address.length);
    request[request.length - 2] = (byte) (server.getPort() >> 8);
    request[request.length - 1] = (byte) server.getPort();
    return request;
  }

  private static void expect(boolean right, WireSettings.Proxy proxy, String otherwise)
      throws IOException {
    if (!right) {
      throw new IOException(proxy + " " + otherwise);
    }
  }

  private static String why(int status) {
    return switch (status) {
      case 2 -> "its rules forbid it";
      case 3 -> "the network is unreachable";
      case 4 -> "the host is unreachable";
      case 5 -> "the connection is refused";
      case 6 -> "the connection timed out";
      case 7, 8 -> "it does not support this request";
      default -> "it has failed (" + status + ")";
    };
  }
}
