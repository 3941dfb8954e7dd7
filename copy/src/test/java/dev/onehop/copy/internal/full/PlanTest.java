package dev.onehop.copy.internal.full;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.internal.structure.CollectionSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonObjectId;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The plan of a job as successive processes read it. */
class PlanTest {
  private static final String STATE = "onehop_copy";
  private static final BsonObjectId ID = new BsonObjectId(new ObjectId());
  private static final CollectionSpec SPEC =
      new CollectionSpec(
          "d.c",
          "e.c",
          CollectionSpec.Kind.COLLECTION,
          new BsonBinary(new UUID(1, 2)),
          BsonDocument.parse("{capped: false, validator: {$expr: {$eq: ['$a', 1]}}}"),
          List.of(BsonDocument.parse("{v: 2, key: {'a.b': 1}, name: 'a.b_1'}")),
          new CollectionSpec.Sharding(
              BsonDocument.parse("{a: 1}"),
              true,
              List.of(BsonDocument.parse("{ns: 'd.c', min: {a: 1}, max: {a: 2}, tag: 'z'}"))));
  private static final CollectionSpec VIEW =
      new CollectionSpec(
          "d.v",
          "e.v",
          CollectionSpec.Kind.VIEW,
          null,
          BsonDocument.parse("{viewOn: 'c', pipeline: []}"),
          List.of(),
          null);

  @AutoClose private final ScriptedReplicaSet server = new ScriptedReplicaSet();
  @AutoClose private final ClusterEnd destination = server.connect("destination");
  private Plan plan;

  @BeforeEach
  void connect() throws InterruptedException {
    plan = new Plan(destination, STATE, ID);
  }

  /** The plan as another process of the same job uses it. */
  private Plan another() {
    return new Plan(destination, STATE, ID);
  }

  private static List<KeyRange> ranges(int... bounds) {
    List<KeyRange> ranges = new ArrayList<>();
    for (int number = 0; number + 1 < bounds.length; number++) {
      ranges.add(
          new KeyRange(
              0,
              number,
              "",
              new BsonDocument("a", new BsonInt32(bounds[number])),
              new BsonDocument("a", new BsonInt32(bounds[number + 1])),
              false));
    }
    return ranges;
  }

  private CopiedCollection planned(Plan by, KeyRange... ranges) throws InterruptedException {
    CopiedCollection planned =
        by.collections()
            .get(0)
            .planned(
                BsonDocument.parse("{a: 1}"),
                BsonDocument.parse("{name: 'a_1', key: {a: 1, b: 1}}"),
                70);
    return by.store(planned, List.of(ranges));
  }

  @Test
  void nextProcessReadsStoredPlan() throws InterruptedException {
    plan.store(List.of(SPEC, VIEW));
    assertThat(another().collections())
        .extracting(CopiedCollection::spec)
        .containsExactly(SPEC, VIEW);

    CopiedCollection stored = planned(plan, ranges(0, 10, 20).toArray(KeyRange[]::new));
    CopiedCollection read = another().collections().get(0);
    assertThat(read).isEqualTo(stored);
    assertThat(read.key()).isEqualTo(BsonDocument.parse("{a: 1}"));
    assertThat(read.index()).isEqualTo(BsonDocument.parse("{name: 'a_1', key: {a: 1, b: 1}}"));
    assertThat(another().open(read, new Counts())).isEqualTo(ranges(0, 10, 20));
  }

  /** Other versions of the program must be able to read a stored description. */
  @Test
  void keepsFormatOfStoredDescriptions() throws InterruptedException {
    plan.store(List.of(SPEC));
    byte[] spec = server.stored(STATE + ".collections").get(0).getBinary("spec").getData();
    assertThat(new RawBsonDocument(spec).decode(new BsonDocumentCodec()))
        .isEqualTo(
            BsonDocument.parse(
                """
                {namespace: 'd.c', destination: 'e.c', kind: 'COLLECTION',
                 uuid: {$binary: {base64: 'AAAAAAAAAAEAAAAAAAAAAg==', subType: '04'}},
                 options: {capped: false, validator: {$expr: {$eq: ['$a', 1]}}},
                 indexes: [{v: 2, key: {'a.b': 1}, name: 'a.b_1'}],
                 sharding: {key: {a: 1}, unique: true,
                  zones: [{ns: 'd.c', min: {a: 1}, max: {a: 2}, tag: 'z'}]}}
                """));
  }

  @Test
  void listsUnfinishedRangesAndMarksStarted() throws InterruptedException {
    plan.store(List.of(SPEC));
    CopiedCollection stored = planned(plan, ranges(0, 10, 20, 30).toArray(KeyRange[]::new));
    List<KeyRange> all = plan.open(stored, new Counts());
    plan.started(stored, all.get(0));
    plan.done(stored, all.get(0), 7, 700);
    plan.started(stored, all.get(1));
    plan.started(stored, all.get(1));

    Counts counts = new Counts();
    List<KeyRange> open = another().open(stored, counts);
    assertThat(open).extracting(KeyRange::number).containsExactly(1, 2);
    assertThat(open).extracting(KeyRange::started).containsExactly(true, false);
    assertThat(counts.ranges).hasValue(3);
    assertThat(counts.rangesDone).hasValue(1);
    assertThat(counts.documentsDone).hasValue(7);
    assertThat(counts.bytesDone).hasValue(700);
    assertThat(counts.rangesReadAgain).hasValue(1);
  }

  /**
   * While a process is paused, another process takes the job and divides the collection into
   * ranges. The first process must then use the same ranges.
   */
  @Test
  void keepsFirstRangesOfCollection() throws InterruptedException {
    plan.store(List.of(SPEC));
    CopiedCollection undivided = plan.collections().get(0);
    CopiedCollection first = planned(another(), ranges(0, 10).toArray(KeyRange[]::new));
    CopiedCollection late =
        plan.store(undivided.planned(BsonDocument.parse("{b: 1}"), null, 9), ranges(0, 5, 10));

    assertThat(late).isEqualTo(first);
    assertThat(another().collections().get(0)).isEqualTo(first);
    assertThat(plan.open(late, new Counts())).isEqualTo(ranges(0, 10));
  }

  @Test
  void removeKeepsOtherPlans() throws InterruptedException {
    Plan other = new Plan(destination, STATE, new BsonObjectId(new ObjectId()));
    for (Plan each : List.of(plan, other)) {
      each.store(List.of(SPEC));
      planned(each, ranges(0, 10).toArray(KeyRange[]::new));
    }
    plan.remove();

    assertThat(plan.collections()).isEmpty();
    assertThat(other.open(other.collections().get(0), new Counts())).isEqualTo(ranges(0, 10));
    assertThat(server.stored(STATE + ".ranges")).hasSize(1);
  }

  /** A write is sent again if its reply is lost. It must take effect only once. */
  @Test
  void repeatedStoreHasOneEffect() throws InterruptedException {
    server.script(
        command -> {
          if (!command.getFirstKey().equals("update")) {
            return null;
          }
          server.script(all -> null);
          return BsonDocument.parse(
              "{ok: 0, code: 91, codeName: 'ShutdownInProgress', errmsg: ''}");
        });
    plan.store(List.of(SPEC));
    plan.store(List.of(SPEC));
    assertThat(plan.collections()).hasSize(1);
  }
}
