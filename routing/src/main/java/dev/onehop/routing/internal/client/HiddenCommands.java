package dev.onehop.routing.internal.client;

import com.mongodb.ContextProvider;
import com.mongodb.MongoClientSettings;
import com.mongodb.RequestContext;
import com.mongodb.event.CommandEvent;
import com.mongodb.event.CommandFailedEvent;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.event.CommandSucceededEvent;
import com.mongodb.reactivestreams.client.ReactiveContextProvider;
import dev.onehop.routing.internal.observation.MapRequestContext;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/**
 * Commands of our own on the application's clients, of which its command listeners and its context
 * provider learn nothing.
 */
final class HiddenCommands {
  private HiddenCommands() {}

  /** Settings of a client whose listeners don't see what is {@linkplain #hidden hidden}. */
  static MongoClientSettings hiding(MongoClientSettings settings) {
    if (settings.getCommandListeners().isEmpty()) {
      return settings;
    }
    return MongoClientSettings.builder(settings)
        .contextProvider(new Contexts(settings.getContextProvider()))
        .commandListenerList(
            settings.getCommandListeners().stream().<CommandListener>map(Listener::new).toList())
        .build();
  }

  static <T> Mono<T> hidden(Mono<T> command) {
    return command.contextWrite(context -> context.put(HiddenCommands.class, true));
  }

  private static boolean isHidden(CommandEvent event) {
    RequestContext context = event.getRequestContext();
    return context != null && context.hasKey(HiddenCommands.class);
  }

  private record Contexts(@Nullable ContextProvider asked) implements ReactiveContextProvider {
    @Override
    public RequestContext getContext(Subscriber<?> subscriber) {
      if (subscriber instanceof CoreSubscriber<?> core
          && core.currentContext().hasKey(HiddenCommands.class)) {
        RequestContext hidden = new MapRequestContext();
        hidden.put(HiddenCommands.class, true);
        return hidden;
      }
      RequestContext context =
          asked instanceof ReactiveContextProvider reactive
              ? reactive.getContext(subscriber)
              : null;
      return context == null ? new MapRequestContext() : context;
    }
  }

  private record Listener(CommandListener asked) implements CommandListener {
    @Override
    public void commandStarted(CommandStartedEvent event) {
      if (!isHidden(event)) {
        asked.commandStarted(event);
      }
    }

    @Override
    public void commandSucceeded(CommandSucceededEvent event) {
      if (!isHidden(event)) {
        asked.commandSucceeded(event);
      }
    }

    @Override
    public void commandFailed(CommandFailedEvent event) {
      if (!isHidden(event)) {
        asked.commandFailed(event);
      }
    }
  }
}
