package dev.onehop.routing.internal.targeted;

import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerDescription;
import dev.onehop.shards.request.RouterIdentity;
import dev.onehop.wire.ServerAddressName;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;

/**
 * The identity of targeted mode's virtual mongos. It announces the highest wire version that all
 * live mongoses support.
 */
final class TargetedIdentity implements RouterIdentity {
  private static final ServerAddressName ADVERTISED =
      new ServerAddressName("onehop-targeted", 27017);

  private final Mongoses mongoses;

  TargetedIdentity(Mongoses mongoses) {
    this.mongoses = mongoses;
  }

  @Override
  public ServerAddressName advertised() {
    return ADVERTISED;
  }

  @Override
  public int maxWireVersion() {
    return mongoses.maxWireVersion();
  }

  /**
   * If the URI names a single member of a replica set, the virtual mongos announces the member's
   * role. The driver then treats it as such a member.
   */
  @Override
  public BsonDocument role() {
    ServerDescription member = mongoses.onlyMember();
    if (member != null) {
      BsonString me = new BsonString(ADVERTISED.toString());
      return new BsonDocument("setName", new BsonString(String.valueOf(member.getSetName())))
          .append("hosts", new BsonArray(List.of(me)))
          .append("me", me)
          .append("ismaster", BsonBoolean.valueOf(member.isPrimary()))
          .append("isWritablePrimary", BsonBoolean.valueOf(member.isPrimary()))
          .append("secondary", BsonBoolean.valueOf(member.isSecondary()));
    }
    return mongoses.type() == ClusterType.STANDALONE
        ? new BsonDocument()
        : RouterIdentity.super.role();
  }

  @Override
  public BsonDocument marks() {
    return new BsonDocument("onehopTargeted", BsonBoolean.TRUE);
  }
}
