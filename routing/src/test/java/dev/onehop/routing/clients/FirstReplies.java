package dev.onehop.routing.clients;

import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandSucceededEvent;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the cursors that a client has opened: a publisher doesn't tell when its is open. */
public final class FirstReplies implements CommandListener {
  private final AtomicInteger opened = new AtomicInteger();

  int opened() {
    return opened.get();
  }

  @Override
  public void commandSucceeded(CommandSucceededEvent event) {
    if (event.getResponse().containsKey("cursor") && !event.getCommandName().equals("getMore")) {
      opened.incrementAndGet();
    }
  }
}
