package dev.onehop.routing.internal.affinity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoCommandException;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ServerConnectionState;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerType;
import com.mongodb.connection.TopologyVersion;
import dev.onehop.routing.internal.affinity.RouterProbe.Identity;
import dev.onehop.routing.internal.affinity.RouterProbe.UnreachableException;
import dev.onehop.wire.CapturedLog;
import dev.onehop.wire.ServerAddressName;
import java.io.IOException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import org.bson.BsonDocument;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

class ClusterPinTest {
  private static final ObjectId OURS = new ObjectId("0000000000000000000000aa");
  private static final ObjectId THEIRS = new ObjectId("0000000000000000000000bb");
  private static final ObjectId FIRST_PROCESS = new ObjectId("000000000000000000000001");
  private static final ObjectId NEXT_PROCESS = new ObjectId("000000000000000000000002");
  private static final ServerAddress A = new ServerAddress("a", 1);
  private static final ServerAddress B = new ServerAddress("b", 1);
  private static final ServerAddress C = new ServerAddress("c", 1);

  @RegisterExtension
  private final CapturedLog refused =
      new CapturedLog(ClusterPin.class.getName(), "is a mongos of another cluster");

  private final Map<ServerAddress, Mono<Identity>> answers = new ConcurrentHashMap<>();
  private final List<ServerAddress> probed = new CopyOnWriteArrayList<>();

  @Test
  void firstSeedOfUriDecidesCluster() {
    answers.put(A, Mono.just(new Identity(OURS, null)));
    answers.put(B, Mono.just(new Identity(THEIRS, null)));
    ClusterPin pin = pin(A, B);

    assertThat(pin.allows(up(B, null))).as("before the first has told").isFalse();
    await().until(() -> pin.allows(up(A, null)));
    assertThat(pin.allows(up(B, null))).isFalse();
    assertThat(pin.isRefused(new ServerAddressName("b", 1))).isTrue();
    assertThat(pin.clusterId()).isEqualTo(OURS);
  }

  @Test
  void silentSeedDelaysOthersOnlyBriefly() {
    answers.put(A, Mono.never());
    answers.put(B, Mono.just(new Identity(OURS, null)));
    ClusterPin pin = pin(A, B);

    await().until(() -> pin.allows(up(B, null)));
    assertThat(pin.clusterId()).isEqualTo(OURS);
  }

  @Test
  void checksUnreachableSeedOnceItIsUp() {
    answers.put(A, Mono.error(new UnreachableException(new IOException("refused"))));
    answers.put(B, Mono.just(new Identity(OURS, null)));
    ClusterPin pin = pin(A, B);

    // No timeout is needed, because all replies come at once.
    pin.check(List.of(new ServerAddressName("b", 1))).block();
    assertThat(pin.clusterId()).isEqualTo(OURS);
    assertThat(pin.allows(up(B, null))).isTrue();

    answers.put(A, Mono.just(new Identity(THEIRS, null)));
    assertThat(pin.allows(up(A, null))).as("before it has told").isFalse();
    await().until(() -> pin.isRefused(new ServerAddressName("a", 1)));
    assertThat(pin.allows(up(A, null))).isFalse();
  }

  @Test
  void usesLateReply() {
    answers.put(A, Mono.just(new Identity(OURS, null)).delayElement(Duration.ofSeconds(3)));
    ClusterPin pin = pin(A);

    pin.check(List.of(new ServerAddressName("a", 1))).block();

    await().until(() -> OURS.equals(pin.clusterId()));
    assertThat(pin.allows(up(A, null))).isTrue();
  }

  @Test
  void allowsOnlySeedWithoutReply() {
    answers.put(A, Mono.never());

    assertThat(pin(A).allows(up(A, null))).isTrue();
  }

  @Test
  void checksDiscoveredMongosBeforeUse() {
    answers.put(A, Mono.just(new Identity(OURS, null)));
    answers.put(B, Mono.just(new Identity(OURS, null)));
    answers.put(C, Mono.just(new Identity(THEIRS, null)));
    ClusterPin pin = pin(A);

    pin.check(List.of(new ServerAddressName("a", 1), new ServerAddressName("b", 1))).block();
    pin.check(List.of(new ServerAddressName("c", 1))).block();

    assertThat(pin.allows(up(B, null))).isTrue();
    assertThat(pin.allows(up(C, null))).isFalse();
  }

  @Test
  void checksNewProcessAtSameAddress() {
    answers.put(A, Mono.just(new Identity(OURS, FIRST_PROCESS)));
    answers.put(B, Mono.just(new Identity(OURS, FIRST_PROCESS)));
    ClusterPin pin = pin(A);
    pin.check(List.of(new ServerAddressName("a", 1), new ServerAddressName("b", 1))).block();
    assertThat(pin.allows(up(B, FIRST_PROCESS))).isTrue();
    assertThat(probed).containsExactly(A, B);

    answers.put(B, Mono.just(new Identity(THEIRS, NEXT_PROCESS)));

    assertThat(pin.allows(up(B, NEXT_PROCESS))).isFalse();
    await().until(() -> pin.isRefused(new ServerAddressName("b", 1)));
    assertThat(probed).containsExactly(A, B, B);
    assertThat(pin.allows(up(B, NEXT_PROCESS))).isFalse();
  }

  @Test
  void allowsMongosThatDoesNotReportCluster() {
    answers.put(A, Mono.just(new Identity(OURS, null)));
    answers.put(
        B,
        Mono.error(
            new MongoCommandException(
                BsonDocument.parse("{ok: 0, code: 13, errmsg: 'not authorized'}"), B)));
    ClusterPin pin = pin(A);

    pin.check(List.of(new ServerAddressName("a", 1), new ServerAddressName("b", 1))).block();

    assertThat(pin.allows(up(B, null))).isTrue();
  }

  @Test
  void keepsFailureUntilMongosReplies() {
    ServerAddressName a = new ServerAddressName("a", 1);
    ServerAddressName b = new ServerAddressName("b", 1);
    answers.put(A, Mono.error(new UnreachableException(new UnknownHostException("a"))));
    answers.put(B, Mono.error(new TimeoutException()));
    ClusterPin pin = pin();

    pin.check(List.of(a, b)).block();
    assertThat(pin.failure(a)).isEqualTo("unknown host a");
    assertThat(pin.failure(b)).isEqualTo("no answer");

    answers.put(A, Mono.just(new Identity(OURS, null)));
    pin.check(List.of(a)).block();
    assertThat(pin.failure(a)).isNull();
  }

  @Test
  void ignoresOtherServerTypes() {
    ServerDescription primary =
        ServerDescription.builder()
            .address(A)
            .type(ServerType.REPLICA_SET_PRIMARY)
            .state(ServerConnectionState.CONNECTED)
            .ok(true)
            .build();

    assertThat(pin(A, B).allows(primary)).isTrue();
    assertThat(probed).isEmpty();
  }

  private ClusterPin pin(ServerAddress... seeds) {
    return new ClusterPin(
        router ->
            Mono.defer(
                () -> {
                  ServerAddress address = new ServerAddress(router.host(), router.port());
                  probed.add(address);
                  return answers.get(address);
                }),
        List.of(seeds));
  }

  private static ServerDescription up(ServerAddress address, @Nullable ObjectId process) {
    return ServerDescription.builder()
        .address(address)
        .type(ServerType.SHARD_ROUTER)
        .state(ServerConnectionState.CONNECTED)
        .ok(true)
        .topologyVersion(process == null ? null : new TopologyVersion(process, 0))
        .build();
  }
}
