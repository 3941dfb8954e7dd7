package dev.onehop.routing.clients;

import com.mongodb.client.MongoClient;
import dev.onehop.routing.OneHop;

/** The drivers that the same tests of a router run on. */
public enum Driver {
  REACTIVE {
    @Override
    public MongoClient client(OneHop.Builder builder) {
      FirstReplies replies = new FirstReplies();
      return BlockingView.of(
          MongoClient.class,
          builder
              .applyToClientSettings(settings -> settings.addCommandListener(replies))
              .client(com.mongodb.reactivestreams.client.MongoClient.class),
          replies);
    }
  },
  SYNC {
    @Override
    public MongoClient client(OneHop.Builder builder) {
      return builder.client(MongoClient.class);
    }
  };

  /** A client with its own router, through the interfaces of the synchronous driver. */
  public abstract MongoClient client(OneHop.Builder builder);
}
