package dev.onehop.measure.bench;

import dev.onehop.resync.Failure;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * The results of a Kubernetes Indexed Job whose pods each ran one client with {@code
 * --print-results}: taken from the pods' logs, which stay after the pods have ended.
 */
public final class JobResults {
  /** On every pod of a job. */
  private static final String JOB = "batch.kubernetes.io/job-name";

  /** Also an annotation; the label is there from Kubernetes 1.28 on. */
  private static final String INDEX = "batch.kubernetes.io/job-completion-index";

  private final KubernetesClient kubernetes;
  private final String namespace;
  private final String job;

  /**
   * @param kubernetes stays open
   */
  public JobResults(KubernetesClient kubernetes, String namespace, String job) {
    this.kubernetes = kubernetes;
    this.namespace = namespace;
    this.job = job;
  }

  /**
   * Copies each pod's results into a folder of its own.
   *
   * @param into the folder for these folders
   * @return the folders, by completion index
   * @throws Failure if there is no such job, or not every index has results
   */
  public List<Path> copy(Path into) {
    try {
      return copyAll(into);
    } catch (KubernetesClientException e) {
      throw Failure.run("Kubernetes: " + Failure.firstLine(e), e);
    }
  }

  private List<Path> copyAll(Path into) {
    Job found = kubernetes.batch().v1().jobs().inNamespace(namespace).withName(job).get();
    if (found == null) {
      throw Failure.run("no job " + job + " in namespace " + namespace, null);
    }
    if (!"Indexed".equals(found.getSpec().getCompletionMode())) {
      throw Failure.run("job " + job + " is not of completion mode Indexed", null);
    }
    int completions = Objects.requireNonNullElse(found.getSpec().getCompletions(), 1);
    Map<Integer, Path> folders = new TreeMap<>();
    for (Pod pod : kubernetes.pods().inNamespace(namespace).withLabel(JOB, job).list().getItems()) {
      int index = index(pod);
      if (index >= 0 && index < completions && !folders.containsKey(index)) {
        Path folder = into.resolve("client-%02d".formatted(index));
        if (ResultsArchive.unpack(log(pod), folder)) {
          folders.put(index, folder);
        }
      }
    }
    if (folders.size() < completions) {
      List<Integer> missing = new ArrayList<>();
      for (int index = 0; index < completions; index++) {
        if (!folders.containsKey(index)) {
          missing.add(index);
        }
      }
      throw Failure.run(
          "%d of %d pods of job %s have left results; missing: %s"
              .formatted(folders.size(), completions, job, missing),
          null);
    }
    return List.copyOf(folders.values());
  }

  private String log(Pod pod) {
    String phase = pod.getStatus() == null ? "" : pod.getStatus().getPhase();
    boolean ended = "Succeeded".equals(phase) || "Failed".equals(phase);
    return ended
        ? kubernetes
            .pods()
            .inNamespace(namespace)
            .withName(pod.getMetadata().getName())
            .withReadyWaitTimeout(0)
            .getLog()
        : "";
  }

  private static int index(Pod pod) {
    Map<String, String> annotations = pod.getMetadata().getAnnotations();
    String index = annotations == null ? null : annotations.get(INDEX);
    try {
      return index == null ? -1 : Integer.parseInt(index);
    } catch (NumberFormatException e) {
      return -1;
    }
  }
}
