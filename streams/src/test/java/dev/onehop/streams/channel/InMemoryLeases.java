package dev.onehop.streams.channel;

import dev.onehop.streams.event.Checkpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Leases in memory, which behave as the leases in MongoDB. Thread-safe. */
final class InMemoryLeases implements LeaseStore {
  private final int channels;
  private final long leaseNanos;
  private final Map<String, Long> members = new TreeMap<>();
  private final List<Channel> leases = new ArrayList<>();
  private boolean ended;
  private boolean removed;
  private int made;
  private @Nullable Group group;

  private static final class Channel {
    private @Nullable String owner;
    private long term;
    private long until;
    private long renewal;
    private Checkpoint place;
    private @Nullable String barrier;

    Channel(Checkpoint place) {
      this.place = place;
    }
  }

  InMemoryLeases(int channels, Duration lease) {
    this.channels = channels;
    this.leaseNanos = lease.toNanos();
  }

  private synchronized Group begin(Checkpoint start) {
    if (removed) {
      throw removed();
    }
    if (group == null) {
      group = new Group(Integer.toString(++made), start);
    }
    for (int i = leases.size(); i < channels; i++) {
      leases.add(new Channel(group.start()));
    }
    return group;
  }

  /** Removes all leases, as a user may do by mistake. */
  synchronized void drop() {
    leases.clear();
    members.clear();
    group = null;
    ended = false;
    removed = false;
  }

  @Override
  public Mono<Void> remove() {
    return Mono.fromRunnable(
        () -> {
          synchronized (this) {
            removed = true;
          }
        });
  }

  @Override
  public String toString() {
    return "the leases";
  }

  synchronized @Nullable String owner(int channel) {
    if (leases.isEmpty()) {
      return null;
    }
    Channel lease = leases.get(channel);
    return lease.until - System.nanoTime() > 0 ? lease.owner : null;
  }

  @Override
  public Mono<Group> create(Mono<Checkpoint> start) {
    return start.map(this::begin);
  }

  @Override
  public Mono<Void> renew(String member, long renewal, List<Hold> holds) {
    return Mono.fromRunnable(
        () -> {
          synchronized (this) {
            members.put(member, System.nanoTime() + leaseNanos);
            for (Hold hold : holds) {
              Channel lease = leases.isEmpty() ? null : leases.get(hold.channel());
              if (lease != null && member.equals(lease.owner) && lease.term == hold.term()) {
                store(lease, hold);
                lease.until = System.nanoTime() + leaseNanos;
                lease.renewal = renewal;
              }
            }
          }
        });
  }

  private static void store(Channel lease, Hold hold) {
    lease.place = Checkpoint.parse(hold.place().toDocument());
    lease.barrier = hold.barrier();
  }

  @Override
  public Mono<View> read() {
    return Mono.fromCallable(
        () -> {
          synchronized (this) {
            long now = System.nanoTime();
            List<Lease> view = new ArrayList<>();
            for (int i = 0; i < leases.size(); i++) {
              view.add(lease(i));
            }
            List<String> alive =
                members.entrySet().stream()
                    .filter(each -> each.getValue() - now > 0)
                    .map(Map.Entry::getKey)
                    .toList();
            return new View(group == null || removed ? null : group.id(), view, alive, ended);
          }
        });
  }

  private Lease lease(int number) {
    Channel lease = leases.get(number);
    return new Lease(
        number,
        lease.owner,
        lease.term,
        lease.until - System.nanoTime() <= 0,
        lease.renewal,
        lease.place,
        lease.barrier);
  }

  @Override
  public Mono<Lease> take(int channel, String member) {
    return Mono.fromCallable(
        () -> {
          synchronized (this) {
            Channel lease = leases.get(channel);
            String owner = lease.owner;
            if (owner != null && !owner.equals(member) && lease.until - System.nanoTime() > 0) {
              return null;
            }
            lease.owner = member;
            lease.term++;
            lease.until = System.nanoTime() + leaseNanos;
            lease.renewal = 0;
            return lease(channel);
          }
        });
  }

  @Override
  public Mono<Void> release(String member, Hold hold) {
    return Mono.fromRunnable(
        () -> {
          synchronized (this) {
            Channel lease = leases.isEmpty() ? null : leases.get(hold.channel());
            if (lease != null && member.equals(lease.owner) && lease.term == hold.term()) {
              store(lease, hold);
              lease.owner = null;
            }
          }
        });
  }

  @Override
  public synchronized Mono<Void> end() {
    return Mono.fromRunnable(
        () -> {
          synchronized (this) {
            ended = true;
          }
        });
  }

  @Override
  public Mono<Void> leave(String member) {
    return Mono.fromRunnable(
        () -> {
          synchronized (this) {
            members.remove(member);
          }
        });
  }
}
