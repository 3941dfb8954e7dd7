package dev.onehop.copy.internal.state;

import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.session.ServerSession;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.bson.BsonDocument;

/**
 * A driver's session with a server session whose id is chosen by the caller. A proxy, for the
 * driver adds methods to its interface.
 */
final class LaneSession {
  private LaneSession() {}

  /** A session that commands are sent with under the id; the rest is {@code session}'s. */
  static ClientSession of(ClientSession session, BsonDocument id) {
    ServerSession named = new Named(id);
    return (ClientSession)
        Proxy.newProxyInstance(
            LaneSession.class.getClassLoader(),
            new Class<?>[] {ClientSession.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("getServerSession")) {
                return named;
              }
              try {
                return method.invoke(session, arguments);
              } catch (InvocationTargetException failure) {
                throw failure.getCause();
              }
            });
  }

  /** Numbers of transactions are given by who sends. */
  private record Named(BsonDocument id) implements ServerSession {
    @Override
    public BsonDocument getIdentifier() {
      return id;
    }

    @Override
    public long getTransactionNumber() {
      throw new UnsupportedOperationException();
    }

    @Override
    public long advanceTransactionNumber() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isClosed() {
      return false;
    }

    @Override
    public void markDirty() {
      // Its id stays the same whatever becomes of a connection.
    }

    @Override
    public boolean isMarkedDirty() {
      return false;
    }
  }
}
