package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.BsonFields.MalformedDocumentException;
import dev.onehop.wire.message.CommandHead;
import dev.onehop.wire.message.NotSentException;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Connections to any number of servers. Each connection serves one request at a time: a request
 * takes an idle connection, or waits until one is opened or given back. With {@link
 * WireSettings.Sharing}, short requests share some connections instead.
 *
 * <p>Thread-safe.
 */
public final class WirePool extends ServerPools<EventLoopServerPool> {
  private final EventLoopGroup group;
  private final WireSettings settings;

  /**
   * @param group event loops of the connections; the caller shuts them down
   */
  public WirePool(EventLoopGroup group, WireSettings settings) {
    this(group, settings, server -> new ConnectionSlots(settings.pool()));
  }

  /**
   * @param slots the connection slots of each server, which other pools may share
   */
  WirePool(
      EventLoopGroup group,
      WireSettings settings,
      Function<ServerAddressName, ConnectionSlots> slots) {
    super(group.next(), slots);
    this.group = group;
    this.settings = settings;
  }

  @Override
  EventLoopServerPool newPool(ServerAddressName server, ConnectionSlots shared) {
    return new EventLoopServerPool(server, group, settings, shared);
  }

  /**
   * Sends a request and returns its reply.
   *
   * @return the reply, empty if the request expects none; a {@link NotSentException} if the server
   *     can't be reached, another {@link IOException} if the connection breaks, a {@link
   *     ServerRefusedException} if the server refuses the user
   */
  public Mono<OpMsg> send(ServerAddressName server, OpMsg request) {
    return Mono.create(
        sink -> {
          ByteBuf message = ByteBufAllocator.DEFAULT.buffer(512);
          request.encode(message);
          Exchange exchange =
              exchange(
                  server,
                  null,
                  message,
                  request.expectsReply(),
                  use(headOf(message)),
                  new Exchange.Outcome() {
                    @Override
                    public void replied(ByteBuf reply) {
                      WireConnection.answer(sink, server, reply, answer -> answer);
                    }

                    @Override
                    public void sent() {
                      sink.success();
                    }

                    @Override
                    public void failed(Throwable cause) {
                      sink.error(cause);
                    }

                    @Override
                    public void unsent(Throwable cause) {
                      sink.error(NotSentException.of(cause));
                    }
                  });
          sink.onCancel(exchange::cancel);
        });
  }

  /**
   * Sends a request without encoding or decoding.
   *
   * @param preferred the event loop whose connections to prefer, null for any
   * @param message the whole message; released by the pool, which also sets its request id
   * @param head the parsed head of the message; used only during this call
   * @param outcome receives the outcome, on an event loop, or at once if there is no connection
   */
  public Exchange exchange(
      ServerAddressName server,
      @Nullable EventLoop preferred,
      ByteBuf message,
      CommandHead head,
      Exchange.Outcome outcome) {
    return exchange(server, preferred, message, head.expectsReply(), use(head), outcome);
  }

  private SharingRules.Use use(@Nullable CommandHead head) {
    WireSettings.Sharing sharing = settings.sharing();
    return sharing == null
        ? SharingRules.Use.OWN
        : SharingRules.use(head, sharing.maxSharedBytes());
  }

  /** The head of a message; null if it cannot be parsed or is not needed. */
  private @Nullable CommandHead headOf(ByteBuf message) {
    try {
      return settings.sharing() == null ? null : CommandHead.read(message);
    } catch (MalformedDocumentException | IndexOutOfBoundsException e) {
      return null;
    }
  }

  private Exchange exchange(
      ServerAddressName server,
      @Nullable EventLoop preferred,
      ByteBuf message,
      boolean expectsReply,
      SharingRules.Use use,
      Exchange.Outcome outcome) {
    EventLoopServerPool pool = pool(server);
    Exchange exchange = new Exchange(pool, message, expectsReply, use, outcome);
    pool.take(preferred, exchange);
    return exchange;
  }
}
