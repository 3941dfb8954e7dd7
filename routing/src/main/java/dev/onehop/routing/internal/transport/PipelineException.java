package dev.onehop.routing.internal.transport;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What went wrong on a shared socket, in words. An {@link IOException}, so that the driver makes
 * its own network error of it and retries and pool clearing work as on a socket of its own.
 */
public final class PipelineException extends IOException {
  private static final long serialVersionUID = 1;

  PipelineException(String message) {
    super(message);
  }

  PipelineException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
