package dev.onehop.routing.internal.client;

import com.mongodb.ClientSessionOptions;
import com.mongodb.ServerAddress;
import com.mongodb.TransactionOptions;
import com.mongodb.internal.TimeoutContext;
import com.mongodb.internal.observability.micrometer.TransactionSpan;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.session.ServerSession;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;

/** A session that leaves all to an official one. */
abstract class ForwardingSession implements ClientSession {

  /** The official session that is meant now. */
  abstract ClientSession official();

  /** The official session whose cluster time, operation time and snapshot time count. */
  ClientSession times() {
    return official();
  }

  @Override
  public @Nullable ServerAddress getPinnedServerAddress() {
    return official().getPinnedServerAddress();
  }

  @Override
  public @Nullable Object getTransactionContext() {
    return official().getTransactionContext();
  }

  @Override
  public void setTransactionContext(ServerAddress address, Object transactionContext) {
    official().setTransactionContext(address, transactionContext);
  }

  @Override
  public void clearTransactionContext() {
    official().clearTransactionContext();
  }

  @Override
  public @Nullable BsonDocument getRecoveryToken() {
    return official().getRecoveryToken();
  }

  @Override
  public void setRecoveryToken(BsonDocument recoveryToken) {
    official().setRecoveryToken(recoveryToken);
  }

  @Override
  public ClientSessionOptions getOptions() {
    return official().getOptions();
  }

  @Override
  public boolean isCausallyConsistent() {
    return official().isCausallyConsistent();
  }

  @Override
  public Object getOriginator() {
    return official().getOriginator();
  }

  @Override
  public ServerSession getServerSession() {
    return official().getServerSession();
  }

  @Override
  public @Nullable BsonTimestamp getOperationTime() {
    return times().getOperationTime();
  }

  @Override
  public void advanceOperationTime(@Nullable BsonTimestamp operationTime) {
    times().advanceOperationTime(operationTime);
  }

  @Override
  public @Nullable BsonDocument getClusterTime() {
    return times().getClusterTime();
  }

  @Override
  public void advanceClusterTime(@Nullable BsonDocument clusterTime) {
    times().advanceClusterTime(clusterTime);
  }

  @Override
  public @Nullable BsonTimestamp getSnapshotTimestamp() {
    return times().getSnapshotTimestamp();
  }

  @Override
  public void setSnapshotTimestamp(@Nullable BsonTimestamp snapshotTimestamp) {
    times().setSnapshotTimestamp(snapshotTimestamp);
  }

  @Override
  public @Nullable TimeoutContext getTimeoutContext() {
    return official().getTimeoutContext();
  }

  @Override
  public boolean hasActiveTransaction() {
    return official().hasActiveTransaction();
  }

  @Override
  public boolean notifyMessageSent() {
    return official().notifyMessageSent();
  }

  @Override
  public void notifyOperationInitiated(Object operation) {
    official().notifyOperationInitiated(operation);
  }

  @Override
  public TransactionOptions getTransactionOptions() {
    return official().getTransactionOptions();
  }

  @Override
  public void startTransaction() {
    official().startTransaction();
  }

  @Override
  public void startTransaction(TransactionOptions transactionOptions) {
    official().startTransaction(transactionOptions);
  }

  @Override
  public Publisher<Void> commitTransaction() {
    return official().commitTransaction();
  }

  @Override
  public Publisher<Void> abortTransaction() {
    return official().abortTransaction();
  }

  @Override
  public @Nullable TransactionSpan getTransactionSpan() {
    return official().getTransactionSpan();
  }

  @Override
  public void close() {
    official().close();
  }
}
