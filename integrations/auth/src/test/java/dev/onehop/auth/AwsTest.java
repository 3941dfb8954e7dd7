package dev.onehop.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.AwsCredential;
import dev.onehop.wire.handshake.AuthenticationFailure;
import dev.onehop.wire.handshake.ScriptedConnection;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests MONGODB-AWS with a scripted server, without AWS. */
class AwsTest {
  private static final AwsCredential LONG_LIVED =
      new AwsCredential("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", null);

  private final ScriptedConnection connection = new ScriptedConnection();

  /** The worked example of the AWS General Reference, "Signature Version 4 signing process". */
  @Test
  void signsRequestAsAwsDocuments() throws GeneralSecurityException {
    String request =
        """
        GET
        /
        Action=ListUsers&Version=2010-05-08
        content-type:application/x-www-form-urlencoded; charset=utf-8
        host:iam.amazonaws.com
        x-amz-date:20150830T123600Z

        content-type;host;x-amz-date
        e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855""";

    assertThat(
            AwsSignature.authorization(
                LONG_LIVED,
                "20150830T123600Z",
                "us-east-1",
                "iam",
                "content-type;host;x-amz-date",
                request))
        .isEqualTo(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request,"
                + " SignedHeaders=content-type;host;x-amz-date,"
                + " Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
  }

  @ParameterizedTest
  @CsvSource({
    "sts.amazonaws.com, us-east-1",
    "sts, us-east-1",
    "sts.eu-west-3.amazonaws.com, eu-west-3",
    "first.second, second"
  })
  void readsRegionFromHostName(String host, String region) {
    assertThat(AwsSteps.region(host)).isEqualTo(region);
  }

  private void serverSendsHost(String host) {
    connection
        .then("{ok: 1}")
        .then(
            start -> {
              byte[] client =
                  Payloads.document(start.getBinary("payload").getData()).getBinary("r").getData();
              return ScriptedConnection.payload(
                  false,
                  Payloads.bytes(
                      new BsonDocument("s", new BsonBinary(Arrays.copyOf(client, 64)))
                          .append("h", new BsonString(host))));
            })
        .thenPayload(true, new byte[0]);
  }

  @Test
  void sendsSignedRequest() {
    serverSendsHost("sts.eu-west-3.amazonaws.com");

    connection.run(AuthMechanisms.aws(() -> new AwsCredential("AKID", "secret", "a token")));

    assertThat(connection.commands()).containsExactly("hello", "saslStart", "saslContinue");
    assertThat(connection.seen.get(1))
        .containsEntry("mechanism", new BsonString("MONGODB-AWS"))
        .containsEntry("$db", new BsonString("$external"));
    assertThat(Payloads.document(connection.sentPayload(1)).getInt32("p").getValue())
        .isEqualTo('n');
    BsonDocument answer = Payloads.document(connection.sentPayload(2));
    assertThat(answer.getString("t").getValue()).isEqualTo("a token");
    assertThat(answer.getString("a").getValue())
        .startsWith(
            "AWS4-HMAC-SHA256 Credential=AKID/" + answer.getString("d").getValue().substring(0, 8))
        .contains(
            "/eu-west-3/sts/aws4_request, SignedHeaders=content-length;content-type;host;"
                + "x-amz-date;x-amz-security-token;x-mongodb-gs2-cb-flag;x-mongodb-server-nonce,");
  }

  @Test
  void sendsNoTokenForLongLivedCredential() {
    serverSendsHost("sts.amazonaws.com");

    connection.run(AuthMechanisms.aws(() -> LONG_LIVED));

    BsonDocument answer = Payloads.document(connection.sentPayload(2));
    assertThat(answer).doesNotContainKey("t");
    assertThat(answer.getString("a").getValue()).doesNotContain("x-amz-security-token");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a..b", ".a", "a.", "a b"})
  void rejectsInvalidHost(String host) {
    serverSendsHost(host);

    assertThatThrownBy(() -> connection.run(AuthMechanisms.aws(() -> LONG_LIVED)))
        .isInstanceOf(AuthenticationFailure.class)
        .hasMessageContaining("invalid AWS host");
  }

  @Test
  void rejectsNonceOfOtherClient() {
    connection
        .then("{ok: 1}")
        .thenPayload(
            false,
            Payloads.bytes(
                new BsonDocument("s", new BsonBinary(new byte[64]))
                    .append("h", new BsonString("sts.amazonaws.com"))));

    assertThatThrownBy(() -> connection.run(AuthMechanisms.aws(() -> LONG_LIVED)))
        .isInstanceOf(AuthenticationFailure.class)
        .hasMessageContaining("nonce");
  }

  @Test
  void findsCredentialsInEnvironment() {
    Map<String, String> variables =
        Map.of("AWS_ACCESS_KEY_ID", "id", "AWS_SECRET_ACCESS_KEY", "key", "AWS_SESSION_TOKEN", "t");

    assertThat(new AwsEnvironment(variables::get, AwsTest::noService).get())
        .usingRecursiveComparison()
        .isEqualTo(new AwsCredential("id", "key", "t"));
  }

  @Test
  void findsCredentialsAtContainerService() {
    assertThat(
            new AwsEnvironment(
                    Map.of("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/x")::get,
                    (method, url, headers) -> {
                      assertThat(method + " " + url).isEqualTo("GET http://169.254.170.2/v2/x");
                      return "{\"AccessKeyId\": \"a\", \"SecretAccessKey\": \"s\","
                          + " \"Token\": \"t\"}";
                    })
                .get())
        .usingRecursiveComparison()
        .isEqualTo(new AwsCredential("a", "s", "t"));
  }

  @Test
  void findsCredentialsAtInstanceService() {
    List<String> requested = new ArrayList<>();
    AwsEnvironment machine =
        new AwsEnvironment(
            name -> null,
            (method, url, headers) -> {
              requested.add(method + " " + url + " " + headers);
              return method.equals("PUT")
                  ? "session"
                  : url.endsWith("/")
                      ? "role\n"
                      : "{AccessKeyId: 'a', SecretAccessKey: 's', Token: 't', Code: 'Success'}";
            });

    assertThat(machine.get())
        .usingRecursiveComparison()
        .isEqualTo(new AwsCredential("a", "s", "t"));
    String roles = "http://169.254.169.254/latest/meta-data/iam/security-credentials/";
    assertThat(requested)
        .containsExactly(
            "PUT http://169.254.169.254/latest/api/token"
                + " {X-aws-ec2-metadata-token-ttl-seconds=30}",
            "GET " + roles + " {X-aws-ec2-metadata-token=session}",
            "GET " + roles + "role {X-aws-ec2-metadata-token=session}");
  }

  @Test
  void missingCredentialsFailConnection() {
    serverSendsHost("sts.amazonaws.com");

    assertThatThrownBy(
            () ->
                connection.run(
                    AuthMechanisms.aws(new AwsEnvironment(name -> null, AwsTest::noService))))
        .isInstanceOf(AuthenticationFailure.class)
        .hasMessageContaining("found no AWS credentials: no route");
  }

  private static String noService(String method, String url, Map<String, String> headers)
      throws IOException {
    throw new IOException("no route");
  }
}
