package dev.onehop.copy.internal.state;

import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.session.ServerSession;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.bson.BsonDocument;

/**
 * Creates sessions of the driver whose server session has a given id. The driver's interface is
 * implemented by a proxy, because new versions of the driver add methods to it.
 */
final class LaneSession {
  private LaneSession() {}

  /**
   * Returns a session that sends commands with the id. All other methods call the given session.
   */
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

  /**
   * A server session with a given id. It has no transaction numbers, because the sender sets them
   * in each command.
   */
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
      // Nothing to do: the session keeps its id after a connection is lost.
    }

    @Override
    public boolean isMarkedDirty() {
      return false;
    }
  }
}
