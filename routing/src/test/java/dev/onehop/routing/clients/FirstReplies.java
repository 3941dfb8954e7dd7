package dev.onehop.routing.clients;

import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandSucceededEvent;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the cursors that a client has opened. Tests need this number, because a publisher does not
 * report when its cursor is open.
 */
public final class FirstReplies implements CommandListener {
  private final AtomicInteger opened = new AtomicInteger();
  private final Set<Runnable> listeners = ConcurrentHashMap.newKeySet();

  int opened() {
    return opened.get();
  }

  /** Adds a listener, which is called for each opened cursor. */
  void add(Runnable listener) {
    listeners.add(listener);
  }

  void remove(Runnable listener) {
    listeners.remove(listener);
  }

  @Override
  public void commandSucceeded(CommandSucceededEvent event) {
    if (event.getResponse().containsKey("cursor") && !event.getCommandName().equals("getMore")) {
      opened.incrementAndGet();
      listeners.forEach(Runnable::run);
    }
  }
}
