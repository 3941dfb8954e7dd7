package dev.onehop.testbed.standin.command;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.wire.message.OpMsg;
import java.util.Collections;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CommandTypesTest {
  private static final int MANY = 100_000;

  /** If the check read these documents by their index, it would take minutes. */
  @Test
  @Timeout(30)
  void checksManyDocumentsInTime() {
    OpMsg insert = insert(Collections.nCopies(MANY, BsonDocument.parse("{a: 1, b: 'x'}")));

    assertThatCode(() -> CommandTypes.check(insert)).doesNotThrowAnyException();
  }

  @Test
  void namesElementOfWrongType() {
    OpMsg insert = insert(List.of(new BsonDocument(), new BsonDocument(), new BsonInt32(1)));

    assertThatThrownBy(() -> CommandTypes.check(insert)).hasMessageContaining("documents.2");
  }

  private static OpMsg insert(List<? extends BsonValue> documents) {
    return OpMsg.command(
        new BsonDocument("insert", new BsonString("c"))
            .append("documents", new BsonArray(documents))
            .append("$db", new BsonString("it")));
  }
}
